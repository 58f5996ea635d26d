/* Any bytes as a file of words of address: it is refused in one line, or has two marks, and judges any text. */
#define _GNU_SOURCE /* memfd_create */
#include <string.h>

#include "ganz/io.h"
#include "memory_file.h"
#include "train/formality.h"

static void judge(const ganz_formality_rules *f, const char *source, const char *target, size_t bytes)
{
    const ganz_pair_text p = {source, target, strlen(source), bytes};
    ganz_text lower = {0};
    ganz_form form;
    FUZZ_EXPECT(ganz_formality_judge(f, &p, &lower, &form));
    const int mark = ganz_formality_draw(f, form, 1, &(ganz_draw){1, 2, 3}, 0);
    FUZZ_EXPECT(mark >= -1 && mark < 2);
    FUZZ_EXPECT(form > GANZ_FORM_INFORMAL || mark == (int)form);
    ganz_text_free(&lower);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "Sie sagte: \"Sind Sie da?\" Du, DU!";
    memory_file file = memory_file_open(data, size);
    ganz_formality_rules f;
    ganz_error err = {.message = ""};
    if (ganz_formality_read(&f, file.path, &err) == GANZ_OK) {
        FUZZ_EXPECT(f.marks[0][0] == '<' && f.marks[1][0] == '<' && strcmp(f.marks[0], f.marks[1]) != 0);
        FUZZ_EXPECT(f.neutral >= 0 && f.neutral <= 1);
        judge(&f, "Are you there?", line, sizeof line - 1);
        if (size > 0 && ganz_utf8_valid((const char *)data, size)) judge(&f, line, (const char *)data, size);
        ganz_formality_free(&f);
    } else {
        FUZZ_EXPECT(err.message[0] && !strchr(err.message, '\n') && !f.text.text);
    }
    memory_file_close(&file);
    return 0;
}
