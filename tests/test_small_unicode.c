/* The small tables of tools/small_unicode.c say of every character, and of what is none, what utf8proc says. */
#include "test.h"

#include <utf8proc.h>

/* The functions of the file it wrote, which are called otherwise here (tests/CMakeLists.txt). */
utf8proc_category_t small_category(utf8proc_int32_t code);
int small_islower(utf8proc_int32_t code);
utf8proc_int32_t small_tolower(utf8proc_int32_t code);
utf8proc_int32_t small_toupper(utf8proc_int32_t code);
utf8proc_int32_t small_totitle(utf8proc_int32_t code);

static void same_answers(int32_t c)
{
    assert_int_equal(small_category(c), utf8proc_category(c));
    assert_int_equal(small_islower(c), utf8proc_islower(c));
    assert_int_equal(small_tolower(c), utf8proc_tolower(c));
    assert_int_equal(small_toupper(c), utf8proc_toupper(c));
    assert_int_equal(small_totitle(c), utf8proc_totitle(c));
}

static void all_characters(void **state)
{
    (void)state;
    for (int32_t c = -1000; c < 0x110000 + 1000; c++) same_answers(c);
    same_answers(INT32_MIN);
    same_answers(INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_characters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
