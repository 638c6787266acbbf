// Calls every function of the header once, and each kind of mistake that only C can make.
#include <aiter_kernels.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                  \
    do {                                                                                                  \
        if (!(condition)) {                                                                               \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, aiter_last_error());               \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)
#define REFUSED(call, text)                                                                               \
    do {                                                                                                  \
        CHECK((call) == AITER_INVALID_ARGUMENT);                                                          \
        if (strcmp(aiter_last_error(), text)) {                                                           \
            fprintf(stderr, "line %d: expected %s, found %s\n", __LINE__, text, aiter_last_error());      \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)

static AiterTensor tensor(void *data, int64_t *shape, int32_t ndim, int32_t type) {
    AiterTensor made = {data, shape, NULL, ndim, type, AITER_HOST, 0};
    return made;
}

int main(void) {
    CHECK(strlen(aiter_version()) >= 5 && aiter_abi_version() == AITER_ABI_VERSION);
    CHECK(!strcmp(aiter_last_error(), ""));
    AiterKernels *kernels = aiter_open("/nowhere");
    _Alignas(16) float x[2][8] = {{1, 2, 3, 4, 1, 1, 1, 1}, {-1, 0, 1, 2, 2, 2, 2, 2}};
    _Alignas(16) float y[2][8], z[2][4];
    float weight[8] = {1, 1, 1, 1, 1, 1, 1, 1}, scales[2];
    int64_t rows[2] = {2, 8}, half[2] = {2, 4}, row[1] = {8}, two[1] = {2};
    AiterTensor tx = tensor(x, rows, 2, AITER_F32), ty = tensor(y, rows, 2, AITER_F32);
    AiterTensor tz = tensor(z, half, 2, AITER_F32), tw = tensor(weight, row, 1, AITER_F32);
    AiterTensor ts = tensor(scales, two, 1, AITER_F32);

    CHECK(aiter_gelu_and_mul(kernels, &tz, &tx, NULL) == AITER_OK);
    CHECK(fabsf(z[0][0] - 0.8413447f) < 1e-6f);
    CHECK(aiter_gelu_tanh_and_mul(kernels, &tz, &tx, NULL) == AITER_OK);
    CHECK(fabsf(z[0][0] - 0.8411920f) < 1e-6f);
    CHECK(aiter_rms_norm(kernels, &ty, &tx, NULL, NULL, &tw, 0.0f, NULL) == AITER_OK);
    CHECK(fabsf(y[0][0] - 1 / sqrtf(34.0f / 8)) < 1e-6f);
    CHECK(aiter_layer_norm(kernels, &ty, &tx, NULL, NULL, &tw, &tw, 0.0f, NULL) == AITER_OK);
    CHECK(fabsf(y[0][0] + y[0][1] + y[0][2] + y[0][3] + y[0][4] + y[0][5] + y[0][6] + y[0][7] - 8) < 1e-5f);
    CHECK(aiter_softmax(kernels, &ty, &tx, NULL) == AITER_OK);
    CHECK(fabsf(y[1][0] + y[1][1] + y[1][2] + y[1][3] + y[1][4] + y[1][5] + y[1][6] + y[1][7] - 1) < 1e-6f);

    int8_t bytes[2][8];
    AiterTensor tb = tensor(bytes, rows, 2, AITER_I8);
    CHECK(aiter_dynamic_per_token_scaled_quant(kernels, &tb, &tx, &ts, NULL) == AITER_OK);
    CHECK(bytes[0][3] == 127 && fabsf(scales[0] - 4.0f / 127) < 1e-8f);

    // In place: a quarter turn.
    int64_t heads[4] = {1, 1, 1, 8}, table[2] = {1, 4};
    float cosines[4] = {0, 0, 0, 0}, sines[4] = {1, 1, 1, 1};
    AiterTensor th = tensor(x[0], heads, 4, AITER_F32), tcos = tensor(cosines, table, 2, AITER_F32);
    AiterTensor tsin = tensor(sines, table, 2, AITER_F32);
    CHECK(aiter_rope(kernels, &th, &th, &tcos, &tsin, NULL, 0, false, NULL) == AITER_OK);
    CHECK(x[0][0] == -1 && x[0][4] == 1 && x[0][7] == 4);
    REFUSED(aiter_rope(kernels, &th, &th, &tcos, &tsin, NULL, 2, false, NULL),
            "rotate_style: expected 0 (NEOX) or 1 (GPT-J), found 2");

    _Alignas(16) float cache[2][3][1][4] = {{{{0}}}}, new_rows[2][1][1][4] = {{{{1, 2, 3, 4}}}, {{{5, 6, 7, 8}}}};
    int32_t filled[2] = {2, 0};
    int64_t cache_shape[4] = {2, 3, 1, 4}, new_shape[4] = {2, 1, 1, 4};
    AiterTensor tc = tensor(cache, cache_shape, 4, AITER_F32), tn = tensor(new_rows, new_shape, 4, AITER_F32);
    AiterTensor tf = tensor(filled, two, 1, AITER_I32);
    AiterAppendKv append = {&tc, &tc, &tn, &tn, &tf, NULL, NULL, NULL, 0, false};
    CHECK(aiter_append_kv(kernels, &append, NULL) == AITER_OK);
    CHECK(cache[0][2][0][1] == 2 && cache[1][0][0][3] == 8 && cache[0][0][0][0] == 0);
    filled[0] = 3;
    REFUSED(aiter_append_kv(kernels, &append, NULL), "capacity: expected at least 4, found 3");

    // What only C can get wrong.
    AiterTensor bad = tx;
    REFUSED(aiter_softmax(NULL, &ty, &tx, NULL), "kernels: expected what aiter_open gave, found null");
    REFUSED(aiter_softmax(kernels, NULL, &tx, NULL), "out: expected a tensor, found null");
    REFUSED(aiter_attention(kernels, NULL, NULL), "arguments: expected arguments, found null");
    bad.data = NULL;
    REFUSED(aiter_softmax(kernels, &ty, &bad, NULL), "input: expected data, found null");
    bad = tx, bad.shape = NULL;
    REFUSED(aiter_softmax(kernels, &ty, &bad, NULL), "input: expected a shape, found null");
    bad = tx, bad.ndim = 0;
    REFUSED(aiter_softmax(kernels, &ty, &bad, NULL), "input: expected 1 to 8 dimensions, found 0");
    bad = tx, bad.element_type = 99;
    REFUSED(aiter_softmax(kernels, &ty, &bad, NULL), "input: expected an element type of aiter_kernels.h, found 99");
    bad = tx, bad.device_type = 2;
    REFUSED(aiter_softmax(kernels, &ty, &bad, NULL), "input: expected device_type 1 (host) or 10 (ROCm), found 2");
    int64_t negative[2] = {2, -8}, huge[2] = {INT64_MAX, INT64_MAX};
    bad = tx, bad.shape = negative;
    REFUSED(aiter_softmax(kernels, &ty, &bad, NULL), "input: expected sizes that are not negative, found -8");
    bad.shape = huge;
    CHECK(aiter_softmax(kernels, &ty, &bad, NULL) == AITER_INVALID_ARGUMENT);
    bad = tx, bad.device_type = AITER_ROCM;
    REFUSED(aiter_softmax(kernels, &ty, &bad, NULL), "out: expected on GPU 0, found on the host");
    AiterAttention call = aiter_attention_defaults();
    call.block_table = &tf;
    REFUSED(aiter_attention(kernels, &call, NULL), "cu_seqlens_q: expected a tensor, found null");
    REFUSED(aiter_check_attention(kernels, &call), "cu_seqlens_q: expected a tensor, found null");
    REFUSED(aiter_rms_norm(kernels, &ty, &tx, &tx, NULL, &tw, 0.0f, NULL), "residual_out: expected a tensor, found null");

    // A scale of 0 is one: every key has the same weight.
    _Alignas(16) float q[1][1][1][4] = {{{{9, 0, 0, 0}}}}, k[1][2][1][4] = {{{{9, 0, 0, 0}}, {{0, 2, 0, 0}}}}, o[1][1][1][4];
    int64_t one[4] = {1, 1, 1, 4}, keys[4] = {1, 2, 1, 4};
    AiterTensor tq = tensor(q, one, 4, AITER_F32), tk = tensor(k, keys, 4, AITER_F32), to = tensor(o, one, 4, AITER_F32);
    call = aiter_attention_defaults();
    call.q = &tq, call.k = &tk, call.v = &tk, call.out = &to, call.softmax_scale = 0.0f;
    CHECK(aiter_check_attention(kernels, &call) == AITER_OK && aiter_attention(kernels, &call, NULL) == AITER_OK);
    CHECK(o[0][0][0][0] == 4.5f && o[0][0][0][1] == 1.0f);

    aiter_close(kernels);
    aiter_close(NULL);
    puts("ok");
    return 0;
}
