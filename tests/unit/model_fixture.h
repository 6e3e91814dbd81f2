/* model_fixture.h: cards, engines and models for the tests of libperfmodel, written out by hand from their
 * sources, so that no test depends on the standard library. */
#ifndef PERFC_TESTS_MODEL_FIXTURE_H
#define PERFC_TESTS_MODEL_FIXTURE_H

#include <stdbool.h>

#include "model/perfmodel.h"

enum { FIXTURE_BLOCKS = 4 };

struct fixture_model {
    struct pm_model model;
    struct pm_block blocks[FIXTURE_BLOCKS];
};

extern const struct pm_format fixture_fp16, fixture_bf16, fixture_fp8, fixture_int8, fixture_int4,
    fixture_nvfp4, fixture_mxfp4;

/* The systems of the serving measurements, by their names there ("h100_sxm"). False: unknown. */
bool fixture_gpu(struct pm_gpu *out, const char *name);

/* The calibrated coefficients; the stream interval is the engine's ("vllm", "trtllm", "sglang"). */
void fixture_engine(struct pm_engine *out, const char *name);
/* The coefficients of vllm, sglang and tensorrt-llm (calibration.md section 10), by the names above; mxfp4
 * then counts as fp4. */
void fixture_refine(struct pm_engine *engine, struct fixture_model *model, const char *name);
void fixture_ideal(struct pm_engine *out);

/* The models of the serving measurements in the formats that were run. False: unknown. */
bool fixture_serving_model(struct fixture_model *out, const char *name, const char *precision,
                           const char *gpu, const char *engine);

/* Connects blocks to model, and gives all parts one format. */
void fixture_connect(struct fixture_model *model, size_t blocks);
void fixture_formats(struct fixture_model *model, const struct pm_format *weights);

/* A case with every degree of parallelism at 1. */
struct pm_case fixture_case(const struct pm_model *model, const struct pm_gpu *gpu,
                            const struct pm_engine *engine);

#endif
