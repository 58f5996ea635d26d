/* Base: arenas, pool, random numbers, UTF-8, files. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/rng.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "folder.h"

static void fail_writes_one_line(void **state)
{
    (void)state;
    ganz_error err;
    assert_int_equal(ganz_fail(&err, GANZ_EIO, "a%sb", "\n\t"), GANZ_EIO);
    assert_int_equal(err.status, GANZ_EIO);
    assert_string_equal(err.message, "a??b");
    assert_int_equal(ganz_fail(NULL, GANZ_EINVAL, "x"), GANZ_EINVAL);
    assert_int_equal(ganz_fail(&err, GANZ_EIO, "again: %s", err.message), GANZ_EIO);
    assert_string_equal(err.message, "again: a??b");
    for (int i = GANZ_OK; i <= GANZ_ETIMEOUT; i++) assert_non_null(ganz_status_name((ganz_status)i));
    assert_string_equal(ganz_status_name((ganz_status)99), "unknown status");
}

/* What a terminal gets when `text` is written to standard output. */
static void write_to_terminal(const char *text, char *seen, size_t room)
{
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) skip();
    const pid_t child = fork();
    if (child == 0) {
        const int out = open(ptsname(terminal), O_RDWR | O_NOCTTY);
        ganz_output *o;
        bool good = out >= 0 && dup2(out, STDOUT_FILENO) >= 0 && ganz_output_open(&o, "-", NULL) == GANZ_OK;
        for (const char *c = text; good && *c; c++) good = ganz_output_write(o, c, 1, NULL) == GANZ_OK;
        good = good && ganz_output_finish(&o, NULL) == GANZ_OK;
        sleep(good ? 0 : 1);
        _exit(good ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    const ssize_t n = read(terminal, seen, room - 1);
    seen[n > 0 ? n : 0] = '\0';
    close(terminal);
}

static void a_terminal_gets_no_orders(void **state)
{
    (void)state;
    char seen[64];
    write_to_terminal("a\033[2Jb\rc\ad\177e\xC2\x9B"
                      "f\xC3\xA9\n",
                      seen, sizeof seen);
    assert_string_equal(seen, "a?[2Jb?c?d?e\xC2\xBF"
                              "f\xC3\xA9\r\n");
    ganz_error err;
    ganz_fail(&err, GANZ_EIO, "x\033y\xC2\x9Bz\xC2\xA9");
    assert_string_equal(err.message, "x?y\xC2\xBFz\xC2\xA9");
}

static void arena_takes_and_rewinds(void **state)
{
    (void)state;
    ganz_arena a;
    assert_int_equal(ganz_arena_open(&a, 4096, NULL), GANZ_OK);
    char *const first = ganz_arena_take(&a, 3, 7);
    assert_non_null(first);
    assert_int_equal((uintptr_t)first % GANZ_ALIGN, 0);
    memset(first, 1, 21);
    const size_t mark = ganz_arena_mark(&a);
    char *const second = ganz_arena_take(&a, 1, 100);
    assert_true(second >= first + 21);
    ganz_arena_rewind(&a, mark);
    assert_ptr_equal(ganz_arena_take(&a, 1, 1), second);
    assert_null(ganz_arena_take(&a, 1, 5000));
    assert_null(ganz_arena_take(&a, SIZE_MAX, 2));
    assert_null(ganz_arena_take(&a, SIZE_MAX, 1));
    assert_true(a.peak >= 128);
    ganz_arena_close(&a);
    assert_int_equal(ganz_arena_open(&a, SIZE_MAX, NULL), GANZ_ENOMEM);
}

static void allocation_fails_on_demand(void **state)
{
    (void)state;
    ganz_alloc_fail_at(2);
    void *const one = ganz_alloc(1, 8);
    assert_non_null(one);
    assert_null(ganz_alloc(1, 8));
    assert_null(ganz_alloc_aligned(8));
    ganz_alloc_fail_at(0);
    ganz_free(one);
    assert_null(ganz_realloc(NULL, SIZE_MAX, 2));
}

typedef struct sums {
    int touched[1000];
    int worker_of[1000];
} sums;

static void touch(void *context, int64_t begin, int64_t end, int worker)
{
    sums *const s = context;
    for (int64_t i = begin; i < end; i++) {
        s->touched[i]++;
        s->worker_of[i] = worker;
    }
}

/* Runs that follow closely, and some after a pause in which the workers fall asleep: none is lost or done twice. */
static void pool_runs_often(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 3; threads++) {
        ganz_pool *pool;
        sums s = {0};
        assert_int_equal(ganz_pool_open(&pool, threads, NULL), GANZ_OK);
        for (int run = 1; run <= 3000; run++) {
            ganz_pool_run(pool, 40, 1, touch, &s);
            for (int i = 0; i < 40; i++) assert_int_equal(s.touched[i], run);
            if (run % 100 == 0) nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
        }
        ganz_pool_close(&pool);
    }
}

static void pool_covers_each_item_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        ganz_pool *pool;
        assert_int_equal(ganz_pool_open(&pool, threads, NULL), GANZ_OK);
        for (int64_t n = 0; n <= 1000; n += n < 20 ? 1 : 97) {
            sums s = {0};
            ganz_pool_run(pool, n, 8, touch, &s);
            for (int64_t i = 0; i < 1000; i++) assert_int_equal(s.touched[i], i < n);
            for (int64_t i = 0; i < n; i++) assert_in_range(s.worker_of[i], 0, threads - 1);
            for (int64_t i = 1; i < n; i++) /* cut at whole grains */
                if (s.worker_of[i] != s.worker_of[i - 1]) assert_int_equal(i % 8, 0);
        }
        ganz_pool_close(&pool);
        assert_null(pool);
    }
    ganz_pool *none;
    assert_int_equal(ganz_pool_open(&none, 0, NULL), GANZ_EINVAL);
    assert_true(ganz_cpu_count() >= 1);
}

/* Known answers of Philox4x32-10 (Random123's kat_vectors). */
static void philox_known_answers(void **state)
{
    (void)state;
    const ganz_random4 zero = ganz_philox(0, 0, 0);
    const uint32_t expected[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    assert_memory_equal(zero.v, expected, sizeof expected);
    const ganz_random4 ones = ganz_philox(UINT64_MAX, UINT64_MAX, UINT64_MAX);
    const uint32_t expected_ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    assert_memory_equal(ones.v, expected_ones, sizeof expected_ones);
    const ganz_random4 pi =
        ganz_philox(UINT64_C(0x299f31d0a4093822), UINT64_C(0x0370734413198a2e), UINT64_C(0x85a308d3243f6a88));
    const uint32_t expected_pi[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    assert_memory_equal(pi.v, expected_pi, sizeof expected_pi);
}

static void random_numbers_are_spread(void **state)
{
    (void)state;
    double sum = 0, normal_sum = 0, normal_square = 0;
    for (int i = 0; i < 100000; i++) {
        const float u = ganz_random_uniform(7, 3, (uint64_t)i);
        assert_true(u >= 0 && u < 1);
        sum += u;
        const double x = ganz_random_normal(7, 4, (uint64_t)i);
        normal_sum += x;
        normal_square += x * x;
        assert_true(ganz_random_below(1, 2, (uint64_t)i, 6) < 6);
    }
    assert_float_equal((float)(sum / 1e5), 0.5F, 0.005F);
    assert_float_equal((float)(normal_sum / 1e5), 0, 0.015F);
    assert_float_equal((float)(normal_square / 1e5), 1, 0.02F);
}

static void utf8_accepts_only_valid(void **state)
{
    (void)state;
    for (int32_t c = 0; c < 0x110000; c++) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        char bytes[4];
        int32_t back = -1;
        const int n = ganz_utf8_encode(c, bytes);
        assert_int_equal(ganz_utf8_decode(bytes, (size_t)n, &back), n);
        assert_int_equal(back, c);
        if (n > 1) assert_int_equal(ganz_utf8_decode(bytes, (size_t)n - 1, &back), 0);
    }
    static const char *const bad[] = {
        "\xC0\x80",         "\xC1\xBF",         "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80",         "\xFF",         "\xE2\x82"};
    for (size_t i = 0; i < GANZ_COUNT(bad); i++) assert_false(ganz_utf8_valid(bad[i], strlen(bad[i])));
    const char good[] = "plain ascii, then \xC3\xA4 and \xF0\x9F\x98\x80";
    assert_true(ganz_utf8_valid(good, sizeof good - 1));
    assert_false(ganz_utf8_valid(good, sizeof good - 2));
    assert_true(ganz_utf8_valid("a\0b", 3));
    assert_true(ganz_utf8_valid("", 0));
}

static void utf8_repair_replaces_maximal_parts(void **state)
{
    (void)state;
    char out[64];
    size_t replaced;
    /* The example of the Unicode standard, table 3-8. */
    const size_t n = ganz_utf8_repair("a\xF1\x80\x80\xE1\x80\xC2"
                                      "b\x80"
                                      "c\x80\xBF"
                                      "d",
                                      13, out, &replaced);
    assert_int_equal(replaced, 6);
    assert_int_equal(n, 4 + 6 * 3);
    assert_memory_equal(out,
                        "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                        "b\xEF\xBF\xBD"
                        "c\xEF\xBF\xBD\xEF\xBF\xBD"
                        "d",
                        n);
}

/* ---- files, each test in a folder of its own ---------------------------------------------------- */

static void write_text(const char *path, const char *text, size_t bytes)
{
    ganz_output *out;
    ganz_error err;
    assert_int_equal(ganz_output_open(&out, path, &err), GANZ_OK);
    assert_int_equal(ganz_output_write(out, text, bytes, &err), GANZ_OK);
    assert_int_equal(ganz_output_finish(&out, &err), GANZ_OK);
}

static void expect_lines(const char *path, const char *const *lines, int count)
{
    ganz_lines *l;
    ganz_error err;
    assert_int_equal(ganz_lines_open(&l, path, &err), GANZ_OK);
    const char *text;
    size_t bytes;
    for (int i = 0; i < count; i++) {
        assert_int_equal(ganz_lines_next(l, &text, &bytes, &err), GANZ_OK);
        assert_non_null(text);
        assert_int_equal(bytes, strlen(lines[i]));
        assert_memory_equal(text, lines[i], bytes);
        assert_int_equal(ganz_lines_number(l), i + 1);
    }
    for (int again = 0; again < 2; again++) {
        assert_int_equal(ganz_lines_next(l, &text, &bytes, &err), GANZ_OK);
        assert_null(text);
    }
    ganz_lines_close(&l);
}

static void lines_of_every_format(void **state)
{
    (void)state;
    const char text[] = "one\n\nthree\r\nlast without end";
    const char *const lines[] = {"one", "", "three\r", "last without end"};
    const char *const names[] = {"a.txt", "a.gz", "a.xz", "a.zst"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        write_text(names[i], text, sizeof text - 1);
        expect_lines(names[i], lines, 4);
    }
    assert_int_equal(
        system("gzip -dc a.gz | cmp - a.txt && xz -dc a.xz | cmp - a.txt && zstd -qdc a.zst | cmp - a.txt"), 0);
    assert_int_equal(
        system("xz -k a.txt && cat a.gz a.gz > two.gz && cat a.zst a.zst > two.zst && cat a.txt.xz a.txt.xz > two.xz"),
        0);
    expect_lines("a.txt.xz", lines, 4);
    const char *const twice[] = {"one", "", "three\r", "last without endone", "", "three\r", "last without end"};
    expect_lines("two.gz", twice, 7);
    expect_lines("two.zst", twice, 7);
    expect_lines("two.xz", twice, 7);
    write_text("empty", "", 0);
    expect_lines("empty", NULL, 0);
    write_text("empty.gz", "", 0);
    expect_lines("empty.gz", NULL, 0);
}

static void a_flush_may_come_at_any_time(void **state)
{
    (void)state;
    const char *const names[] = {"f", "f.gz", "f.xz", "f.zst"}, *const lines[] = {"one", "two"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        ganz_output *out;
        ganz_error err;
        assert_int_equal(ganz_output_open(&out, names[i], &err), GANZ_OK);
        assert_int_equal(ganz_output_flush(out, &err), GANZ_OK);
        for (int line = 0; line < 2; line++) {
            assert_int_equal(ganz_output_printf(out, &err, "%s\n", lines[line]), GANZ_OK);
            for (int again = 0; again < 2; again++) assert_int_equal(ganz_output_flush(out, &err), GANZ_OK);
        }
        assert_int_equal(ganz_output_finish(&out, &err), GANZ_OK);
        expect_lines(names[i], lines, 2);
    }
}

static void long_lines_survive_every_format(void **state)
{
    (void)state;
    const size_t bytes = 10u << 20;
    char *const text = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++) text[i] = (char)('a' + ganz_random_below(1, 1, i, 26));
    text[bytes] = '\0';
    const char *const names[] = {"l.txt", "l.gz", "l.zst"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        write_text(names[i], text, bytes);
        const char *const lines[] = {text};
        expect_lines(names[i], lines, 1);
    }
    free(text);
}

static void damaged_streams_are_refused(void **state)
{
    (void)state;
    char text[100000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + ganz_random_below(2, 1, i, 26));
    write_text("d.gz", text, sizeof text);
    write_text("d.zst", text, sizeof text);
    write_text("d", text, sizeof text);
    assert_int_equal(
        system("xz d && head -c 30000 d.gz > cut.gz && head -c 30000 d.zst > cut.zst && head -c 30000 d.xz > cut.xz"
               " && (head -c 20000 d.gz; head -c 100 /dev/zero; tail -c 20000 d.gz) > bad.gz"
               " && (head -c 20000 d.xz; head -c 100 /dev/zero; tail -c 20000 d.xz) > bad.xz"
               " && (cat d.gz; echo garbage) > tail.gz && (cat d.xz; echo garbage) > tail.xz"
               " && (cat d.zst; echo garbage) > tail.zst"),
        0);
    const char *const names[] = {"cut.gz", "cut.zst", "cut.xz", "bad.gz", "bad.xz", "tail.gz", "tail.xz", "tail.zst"};
    for (size_t i = 0; i < GANZ_COUNT(names); i++) {
        ganz_lines *l;
        ganz_error err = {0};
        assert_int_equal(ganz_lines_open(&l, names[i], &err), GANZ_OK);
        const char *line;
        size_t bytes;
        ganz_status status;
        do status = ganz_lines_next(l, &line, &bytes, &err);
        while (status == GANZ_OK && line);
        assert_int_equal(status, GANZ_EFORMAT);
        assert_non_null(strstr(err.message, names[i]));
        ganz_lines_close(&l);
    }
}

static void outputs_are_whole_or_absent(void **state)
{
    (void)state;
    ganz_error err;
    ganz_output *out;
    write_text("kept", "old", 3);
    assert_int_equal(ganz_output_open(&out, "kept", &err), GANZ_OK);
    assert_int_equal(ganz_output_printf(out, &err, "%s %d\n", "new", 1), GANZ_OK);
    const char *const old[] = {"old"};
    expect_lines("kept", old, 1);
    ganz_output_abandon(&out);
    expect_lines("kept", old, 1);
    assert_int_equal(ganz_output_open(&out, "kept", &err), GANZ_OK);
    assert_int_equal(ganz_output_write(out, "new1", 4, &err), GANZ_OK);
    assert_int_equal(ganz_output_patch(out, 3, "2", 1, &err), GANZ_OK);
    assert_int_equal(ganz_output_finish(&out, &err), GANZ_OK);
    const char *const renewed[] = {"new2"};
    expect_lines("kept", renewed, 1);
    assert_int_equal(system("test $(ls | wc -l) = 1"), 0);

    assert_int_equal(ganz_output_open(&out, "no/such/folder", &err), GANZ_EIO);
    assert_non_null(strstr(err.message, "no/such/folder"));
    assert_int_equal(ganz_output_open(&out, "/", &err), GANZ_EIO);
    assert_int_equal(ganz_output_open(&out, "/dev/full", &err), GANZ_OK);
    assert_int_equal(ganz_output_write(out, "x", 1, &err), GANZ_OK);
    assert_int_equal(ganz_output_finish(&out, &err), GANZ_EIO);
    assert_null(out);
}

static void a_kill_leaves_nothing(void **state)
{
    (void)state;
    const int probe = open(".", O_TMPFILE | O_WRONLY, 0600);
    if (probe < 0) skip(); /* this file system gives every file a name */
    close(probe);
    const pid_t child = fork();
    if (child == 0) {
        ganz_output *out;
        char text[200000] = "half";
        if (ganz_output_open(&out, "half", NULL) == GANZ_OK &&
            ganz_output_write(out, text, sizeof text, NULL) == GANZ_OK)
            raise(SIGKILL);
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(system("test $(ls -A | wc -l) = 0"), 0);
    write_text("whole", "one", 3);
    write_text("whole", "two", 3);
    const mode_t mask = umask(0);
    umask(mask);
    struct stat info;
    assert_int_equal(stat("whole", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666 & ~mask);
    assert_int_equal(system("test $(ls -A | wc -l) = 1"), 0);
}

/* A file that replaces another is as open to others as that was; one that is being written by a living process is left
 * alone, one that was left behind is not. */
static void a_replacement_takes_after_the_old_file(void **state)
{
    (void)state;
    write_text("kept", "old", 3);
    const mode_t modes[] = {0600, 0640, 0444, 0664};
    struct stat info;
    for (size_t i = 0; i < GANZ_COUNT(modes); i++) {
        assert_int_equal(chmod("kept", modes[i]), 0);
        write_text("kept", "new", 3);
        assert_int_equal(stat("kept", &info), 0);
        assert_int_equal(info.st_mode & 07777, modes[i]);
    }
    write_text("kept.tmp.dead00x", "not ours: seven letters", 23);
    const int dead = open("kept.tmp.dead00", O_WRONLY | O_CREAT, 0600);
    const int alive = open("kept.tmp.alive0", O_WRONLY | O_CREAT, 0600);
    close(dead);
    assert_int_equal(flock(alive, LOCK_EX), 0);
    write_text("kept", "new", 3);
    assert_int_not_equal(stat("kept.tmp.dead00", &info), 0);
    assert_int_equal(stat("kept.tmp.alive0", &info), 0);
    assert_int_equal(stat("kept.tmp.dead00x", &info), 0);
    close(alive);
    write_text("kept", "new", 3);
    assert_int_not_equal(stat("kept.tmp.alive0", &info), 0);
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    write_text("target", "old", 3);
    assert_int_equal(symlink("target", "link"), 0);
    write_text("link", "new", 3);
    struct stat info;
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    const char *const lines[] = {"new"};
    expect_lines("target", lines, 1);
}

static void missing_files_have_a_sentence(void **state)
{
    (void)state;
    ganz_error err;
    ganz_lines *l;
    ganz_contents contents;
    assert_int_equal(ganz_lines_open(&l, "nowhere", &err), GANZ_EIO);
    assert_null(l);
    assert_string_equal(err.message, "cannot open nowhere: No such file or directory");
    assert_int_equal(ganz_lines_open(&l, "/", &err), GANZ_EIO);
    assert_int_equal(ganz_contents_read(&contents, "nowhere", &err), GANZ_EIO);
    assert_int_equal(ganz_contents_read(&contents, "/dev/null", &err), GANZ_EIO);
    write_text("nothing", "", 0);
    assert_int_equal(ganz_contents_read(&contents, "nothing", &err), GANZ_OK);
    assert_int_equal(contents.bytes, 0);
    ganz_contents_free(&contents);
}

/* Sparse: it takes no room on the disk. */
static void files_beyond_reason_are_not_read(void **state)
{
    (void)state;
    ganz_error err;
    ganz_contents contents;
    write_text("huge", "", 0);
    if (truncate("huge", ((off_t)4 << 30) + 1) != 0) skip();
    assert_int_equal(ganz_contents_read(&contents, "huge", &err), GANZ_ELIMIT);
    assert_string_equal(err.message, "cannot read huge: it is larger than 4096 MiB");
    assert_null(contents.data);
}

static void long_texts_are_formatted_whole(void **state)
{
    (void)state;
    static char text[20001];
    memset(text, 'x', sizeof text - 1);
    ganz_error err;
    ganz_output *out;
    assert_int_equal(ganz_output_open(&out, "long", &err), GANZ_OK);
    assert_int_equal(ganz_output_printf(out, &err, "%s\n", text), GANZ_OK);
    assert_int_equal(ganz_output_finish(&out, &err), GANZ_OK);
    const char *const lines[] = {text};
    expect_lines("long", lines, 1);
}

static void expect_next(ganz_lines *l, const char *expected)
{
    const char *line;
    size_t bytes;
    assert_int_equal(ganz_lines_next(l, &line, &bytes, NULL), GANZ_OK);
    if (!expected) assert_null(line);
    else assert_true(line && bytes == strlen(expected) && memcmp(line, expected, bytes) == 0);
}

static void parts_of_files_have_their_lines(void **state)
{
    (void)state;
    ganz_lines *l;
    write_text("parts", "one\ntwo\nthree\n", 14);
    assert_int_equal(ganz_lines_open_range(&l, "parts", 4, 14, NULL), GANZ_OK);
    expect_next(l, "two");
    assert_true(ganz_lines_ready(l));
    expect_next(l, "three");
    expect_next(l, NULL);
    ganz_lines_close(&l);
    assert_int_equal(ganz_lines_open_range(&l, "parts", 4, 4, NULL), GANZ_OK);
    expect_next(l, NULL);
    ganz_lines_close(&l);
    assert_int_equal(ganz_lines_open_range(&l, "nowhere", 0, 4, NULL), GANZ_EIO);
    assert_null(l);
}

static void reader_stops_at_the_end(void **state)
{
    (void)state;
    const unsigned char data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    ganz_reader r = ganz_reader_over(data, sizeof data);
    assert_true(ganz_read_u64(&r) == UINT64_C(0x0807060504030201));
    assert_int_equal(*(const unsigned char *)ganz_read_bytes(&r, 1), 9);
    assert_false(r.failed);
    assert_true(ganz_read_u64(&r) == 0);
    assert_true(r.failed);
    assert_null(ganz_read_bytes(&r, 1));
    r = ganz_reader_over(data, sizeof data);
    assert_null(ganz_read_bytes(&r, SIZE_MAX));
    assert_true(ganz_checksum("", 0) == UINT64_C(0x2d06800538d394c2)); /* XXH3 of nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_writes_one_line),
        cmocka_unit_test(arena_takes_and_rewinds),
        cmocka_unit_test(allocation_fails_on_demand),
        cmocka_unit_test(pool_covers_each_item_once),
        cmocka_unit_test(pool_runs_often),
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(random_numbers_are_spread),
        cmocka_unit_test(utf8_accepts_only_valid),
        cmocka_unit_test(utf8_repair_replaces_maximal_parts),
        IN_FOLDER(lines_of_every_format),
        IN_FOLDER(a_flush_may_come_at_any_time),
        IN_FOLDER(long_lines_survive_every_format),
        IN_FOLDER(damaged_streams_are_refused),
        IN_FOLDER(outputs_are_whole_or_absent),
        IN_FOLDER(a_kill_leaves_nothing),
        cmocka_unit_test(a_terminal_gets_no_orders),
        IN_FOLDER(a_replacement_takes_after_the_old_file),
        IN_FOLDER(a_link_stays_a_link),
        IN_FOLDER(missing_files_have_a_sentence),
        IN_FOLDER(files_beyond_reason_are_not_read),
        IN_FOLDER(long_texts_are_formatted_whole),
        IN_FOLDER(parts_of_files_have_their_lines),
        cmocka_unit_test(reader_stops_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
