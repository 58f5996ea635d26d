/* Languages of any bytes: guesses are few, fall in confidence, and their sum is at most 1. */
#include "fuzz.h"
#include "ganz/detect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static ganz_detector *detector;
    ganz_guess guesses[64];
    double sum = 0;
    if (!detector) FUZZ_EXPECT(ganz_detector_open(&detector, NULL, NULL) == GANZ_OK);
    const size_t count = ganz_detect(detector, (const char *)data, bytes, guesses, 64);
    for (size_t i = 0; i < count; i++) {
        FUZZ_EXPECT(guesses[i].confidence >= 0 && (i == 0 || guesses[i].confidence <= guesses[i - 1].confidence));
        sum += guesses[i].confidence;
    }
    FUZZ_EXPECT(sum <= 1.000001);
    return 0;
}
