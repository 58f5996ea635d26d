/* Memory that runs out once, in any library: a file that is replaced is the old or the new one, and a file that is read
 * is refused for want of memory, never called damaged and never read otherwise. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "folder.h"
#include "model/container.h"
#include "shortage.h"

#define OK(call) assert_int_equal((call), GANZ_OK)

enum { TENSORS = 40 };

/* A long value makes a reader's buffer grow, many tensors its tables. */
static ganz_status write_file(const char *path, char letter, ganz_error *err)
{
    char value[300], key[24];
    memset(value, letter, sizeof value - 1);
    value[sizeof value - 1] = '\0';
    ganz_writer *w = NULL;
    ganz_status status = ganz_writer_open(&w, path, true, err);
    if (status == GANZ_OK) status = ganz_writer_text(w, "long", value, err);
    for (int i = 0; i < TENSORS && status == GANZ_OK; i++) {
        snprintf(key, sizeof key, "tensor %d", i);
        status = ganz_writer_declare(w, key, GANZ_DTYPE_U8, 1, (int64_t[]){2}, err);
    }
    for (int i = 0; i < TENSORS && status == GANZ_OK; i++) status = ganz_writer_write(w, (char[]){letter, 'b'}, 2, err);
    if (status == GANZ_OK) status = ganz_writer_finish(&w, err);
    ganz_writer_abandon(&w);
    return status;
}

/* The letter of a file that is whole; 0 when it cannot be read. */
static char read_letter(const char *path, ganz_status *status, ganz_error *err)
{
    ganz_container *c;
    *status = ganz_container_open(&c, path, err);
    if (*status != GANZ_OK) return 0;
    const char *const value = ganz_container_text(c, "long");
    const char letter = value ? value[0] : 0;
    bool same = value && strlen(value) == 299 && strspn(value, (char[]){letter, '\0'}) == 299;
    same = same && ganz_container_count(c) == TENSORS;
    if (same) *status = ganz_container_check(c, ganz_container_at(c, 0), err);
    same = same && *status == GANZ_OK && *(const char *)ganz_container_at(c, 0)->data == letter;
    if (same) *status = ganz_container_verify(c, err);
    const bool whole = same && *status == GANZ_OK;
    ganz_container_close(&c);
    return whole ? letter : 0;
}

static void a_save_replaces_by_a_whole_file_or_not_at_all(void **state)
{
    (void)state;
#ifdef NO_SHORTAGE
    skip();
#endif
    ganz_error err;
    long n = 0;
    ganz_status status;
    do {
        OK(write_file("kept", 'o', &err));
        shortage_at = ++n;
        status = write_file("kept", 'n', &err);
        const bool fell = shortage_at == 0;
        shortage_at = 0;
        ganz_status reading;
        const char letter = read_letter("kept", &reading, &err);
        if (status != GANZ_OK) assert_int_equal(status, GANZ_ENOMEM);
        if (letter != (status == GANZ_OK ? 'n' : 'o'))
            fail_msg("request %ld: the file is %c, written with %s", n, letter ? letter : '?',
                     ganz_status_name(status));
        if (!fell) break;
    } while (n < 5000);
    assert_true(n > 50 && n < 5000);
}

static void a_shortage_while_reading_is_called_that(void **state)
{
    (void)state;
#ifdef NO_SHORTAGE
    skip();
#endif
    ganz_error err;
    OK(write_file("kept", 'o', &err));
    long n = 0;
    do {
        ganz_status status;
        shortage_at = ++n;
        const char letter = read_letter("kept", &status, &err);
        const bool fell = shortage_at == 0;
        shortage_at = 0;
        if (status == GANZ_OK) assert_int_equal(letter, 'o');
        else if (status != GANZ_ENOMEM) fail_msg("request %ld: %s", n, err.message);
        if (!fell) break;
    } while (n < 5000);
    assert_true(n > 3 && n < 5000);
}

/* The header is patched over what is written first: only bytes of the data can go wrong here. */
static void a_file_that_was_written_otherwise_gets_no_name(void **state)
{
    (void)state;
#ifdef NO_SHORTAGE
    skip();
#endif
    ganz_error err;
    OK(write_file("kept", 'o', &err));
    size_t bytes;
    char *const file = read_whole("kept", &bytes);
    assert_non_null(file);
    free(file);
    for (int i = 0; i < 2 * TENSORS; i++) {
        lie_at = (long)bytes - i;
        assert_int_equal(write_file("kept", 'n', &err), GANZ_EIO);
        assert_int_equal(lie_at, 0);
        assert_non_null(strstr(err.message, "was not written as it should be"));
        ganz_status reading;
        assert_int_equal(read_letter("kept", &reading, &err), 'o');
    }
    assert_int_equal(system("test $(ls | wc -l) = 1"), 0);
}

/* The mask of new files belongs to the whole process: other threads make files too. */
static void the_mask_of_new_files_is_left_alone(void **state)
{
    (void)state;
    ganz_error err;
    masks_set = 0;
    OK(write_file("new", 'n', &err));
    OK(write_file("new", 'o', &err));
    assert_int_equal(masks_set, 0);
}

/* Writes the file in a process that dies when it renames, and says whether it did. */
static bool write_and_die(const char *path)
{
    const pid_t child = fork();
    if (child == 0) {
        killed_by_rename = 1;
        _exit(write_file(path, 'n', NULL) == GANZ_OK ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how);
}

/* A new file needs no rename; what a kill leaves beside an old one goes with the next write. */
static void a_kill_between_two_names_is_cleaned_up(void **state)
{
    (void)state;
#ifdef NO_SHORTAGE
    skip();
#endif
    const int probe = open(".", O_TMPFILE | O_WRONLY, 0600);
    if (probe < 0) skip(); /* this file system gives every file a name */
    close(probe);
    ganz_error err;
    ganz_status reading;
    assert_false(write_and_die("fresh"));
    assert_int_equal(read_letter("fresh", &reading, &err), 'n');
    OK(write_file("fresh", 'o', &err));
    assert_true(write_and_die("fresh"));
    assert_int_equal(read_letter("fresh", &reading, &err), 'o');
    assert_int_equal(system("test $(ls | wc -l) = 2"), 0);
    OK(write_file("fresh", 'm', &err));
    assert_int_equal(system("test $(ls | wc -l) = 1"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_save_replaces_by_a_whole_file_or_not_at_all),  IN_FOLDER(a_shortage_while_reading_is_called_that),
        IN_FOLDER(a_file_that_was_written_otherwise_gets_no_name), IN_FOLDER(the_mask_of_new_files_is_left_alone),
        IN_FOLDER(a_kill_between_two_names_is_cleaned_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
