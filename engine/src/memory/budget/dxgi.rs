//! DXGI, loaded at run time: the few calls that tell a card's budget. Interfaces, their order of methods and structures: `dxgi.h` and `dxgi1_4.h`.

#![allow(unsafe_code)] // calls through COM's tables of methods

use super::Adapter;
use std::ffi::c_void;

/// COM's result: negative is a failure.
type Outcome = i32;
/// A pointer to an object, whose first field points to its table of methods.
type Object = *mut *const *const c_void;

#[repr(C)]
struct Guid(u32, u16, u16, [u8; 8]);

const FACTORY_1: Guid = Guid(0x770a_ae78, 0xf26f, 0x4dba, [0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87]);
const ADAPTER_3: Guid = Guid(0x6459_67a4, 0x1392, 0x4310, [0xa7, 0x98, 0x80, 0x53, 0xce, 0x3e, 0x93, 0xfd]);

/// Places in the tables of methods.
const QUERY_INTERFACE: usize = 0;
const RELEASE: usize = 2;
/// Of IDXGIAdapter1.
const GET_DESC_1: usize = 10;
/// Of IDXGIFactory1.
const ENUM_ADAPTERS_1: usize = 12;
/// Of IDXGIAdapter3.
const QUERY_VIDEO_MEMORY_INFO: usize = 14;

/// `DXGI_ADAPTER_DESC1`.
#[repr(C)]
struct Description {
    name: [u16; 128],
    vendor: u32,
    device: u32,
    subsystem: u32,
    revision: u32,
    memory: [usize; 3],
    luid: [u32; 2],
    flags: u32,
}

/// `DXGI_QUERY_VIDEO_MEMORY_INFO`.
#[repr(C)]
#[derive(Default)]
struct MemoryInfo {
    budget: u64,
    used: u64,
    available_for_reservation: u64,
    reserved: u64,
}

/// An object that is released when it is dropped.
struct Owned(Object);

impl Owned {
    /// The method at a place of the table, as a function of type `F`.
    ///
    /// # Safety
    /// `F` must be the method's type.
    unsafe fn method<F: Copy>(&self, place: usize) -> F {
        // SAFETY: a COM object points to its table, which has the methods of its interface in their order; the caller names the type.
        unsafe { std::mem::transmute_copy(&*(*self.0).add(place)) }
    }

    fn memory_info(&self) -> Option<MemoryInfo> {
        type Query = unsafe extern "system" fn(Object, *const Guid, *mut Object) -> Outcome;
        type Info = unsafe extern "system" fn(Object, u32, u32, *mut MemoryInfo) -> Outcome;
        let (mut adapter, mut info) = (std::ptr::null_mut(), MemoryInfo::default());
        // SAFETY: IUnknown's QueryInterface writes an object of the interface that is asked for, or fails; 0 and 0 are the first node and its own memory.
        unsafe {
            if self.method::<Query>(QUERY_INTERFACE)(self.0, &ADAPTER_3, &mut adapter) < 0 {
                return None;
            }
            let adapter = Self(adapter);
            (adapter.method::<Info>(QUERY_VIDEO_MEMORY_INFO)(adapter.0, 0, 0, &mut info) >= 0).then_some(info)
        }
    }

    fn describe(&self) -> Option<Adapter> {
        type Describe = unsafe extern "system" fn(Object, *mut Description) -> Outcome;
        // SAFETY: plain numbers, for which zeros are a value.
        let mut description: Description = unsafe { std::mem::zeroed() };
        // SAFETY: GetDesc1 of an IDXGIAdapter1 fills the structure.
        let outcome = unsafe { self.method::<Describe>(GET_DESC_1)(self.0, &mut description) };
        let info = self.memory_info().filter(|_| outcome >= 0)?;
        let end = description.name.iter().position(|unit| *unit == 0).unwrap_or(description.name.len());
        Some(Adapter {
            vendor: description.vendor,
            name: String::from_utf16_lossy(&description.name[..end]),
            budget: info.budget,
            used: info.used,
        })
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        type Release = unsafe extern "system" fn(Object) -> u32;
        // SAFETY: IUnknown's Release, once for the reference that this owns.
        unsafe { self.method::<Release>(RELEASE)(self.0) };
    }
}

pub(super) fn adapters() -> Vec<Adapter> {
    type Create = unsafe extern "system" fn(*const Guid, *mut Object) -> Outcome;
    type Enumerate = unsafe extern "system" fn(Object, u32, *mut Object) -> Outcome;
    // SAFETY: a library of the system, whose loading runs nothing of ours.
    let Ok(library) = (unsafe { libloading::Library::new("dxgi.dll") }) else { return Vec::new() };
    // SAFETY: the function has this type since Windows 7.
    let Ok(create) = (unsafe { library.get::<Create>(b"CreateDXGIFactory1\0") }) else { return Vec::new() };
    let mut factory = std::ptr::null_mut();
    // SAFETY: it writes an object of the interface that is asked for, or fails.
    if unsafe { create(&FACTORY_1, &mut factory) } < 0 {
        return Vec::new();
    }
    let factory = Owned(factory);
    let adapter = |number| {
        let mut adapter = std::ptr::null_mut();
        // SAFETY: EnumAdapters1 of an IDXGIFactory1 writes an adapter, or fails when there are no more.
        let outcome =
            unsafe { factory.method::<Enumerate>(ENUM_ADAPTERS_1)(factory.0, number, &mut adapter) };
        (outcome >= 0).then(|| Owned(adapter))
    };
    let adapters: Vec<Owned> = (0..).map_while(adapter).collect();
    adapters.iter().filter_map(Owned::describe).collect()
}
