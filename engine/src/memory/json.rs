//! The plan for machines, in bytes.

use super::plan::{Place, Plan};
use serde_json::{Value, json};

impl Plan {
    /// `places`, the cards and then RAM, and whether it `fits`.
    pub fn to_json(&self) -> Value {
        let places: Vec<Value> = self.places.iter().map(to_json).collect();
        json!({
            "context": self.wish.context,
            "parallel": self.wish.parallel,
            "weights": self.weights,
            "places": places,
            "experts_counted": self.are_experts_counted,
            "fits": self.fits(),
        })
    }
}

fn to_json(place: &Place) -> Value {
    json!({
        "name": place.name,
        "layers": place.layers,
        "has_embedding": place.has_embedding,
        "has_output": place.has_output,
        "experts_on_card": place.resident.values().map(Vec::len).sum::<usize>(),
        "dense": place.dense,
        "experts": place.experts,
        "kv": place.kv,
        "scratch": place.scratch,
        "shared": place.shared,
        "reserve": place.reserve,
        "total": place.total(),
        "usable": place.usable,
    })
}
