/* Settings and their files, the learning rate, the log and its picture. */
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ganz/recipe.h"
#include "train/chart.h"
#include "train/log.h"
#include "train/optim.h"

static void near(double expected, double actual, double part)
{
    if (!(fabs(expected - actual) <= part * fabs(expected))) fail_msg("expected %.9g, got %.9g", expected, actual);
}

/* ---- the table ---------------------------------------------------------------------------------- */

static void table_is_whole(void **state)
{
    (void)state;
    ganz_recipe a, b;
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    ganz_recipe_defaults(&a);
    memset(&b, 0, sizeof b);
    for (int i = 0; i < count; i++) { /* every value as text and back */
        char text[GANZ_VALUE_BYTES];
        ganz_error err;
        ganz_recipe_get(&a, &table[i], text);
        assert_int_equal(GANZ_OK, ganz_recipe_set(&b, table[i].name, text, &err));
        assert_true(table[i].offset < sizeof a);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(table[i].name, table[j].name);
            assert_int_not_equal(table[i].offset, table[j].offset);
        }
    }
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(GANZ_OK, ganz_recipe_check(&a, NULL));
}

static void values_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *says;
    } bad[] = {
        {"widht", "512", "no setting is named widht"},
        {"width", "many", "width needs a whole number, not many"},
        {"width", "512.5", "width needs a whole number, not 512.5"},
        {"width", "", "width needs a whole number"},
        {"width", "99999999999999999999", "width needs a whole number"},
        {"width", "0", "width must be 8 to 8192, not 0"},
        {"dropout", "1", "dropout must be 0 to 0.9, not 1"},
        {"dropout", "nan", "dropout needs a number, not nan"},
        {"dropout", "0.1x", "dropout needs a number, not 0.1x"},
        {"time", "10 minutes", "time needs a time like 90s, 10m or 2h"},
        {"optimizer", "ada", "optimizer is one of adafactor|adam, not ada"},
        {"optimizer", "", "optimizer is one of"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ganz_recipe r, before;
        ganz_error err = {0};
        ganz_recipe_defaults(&r);
        before = r;
        assert_int_equal(GANZ_EINVAL, ganz_recipe_set(&r, bad[i].name, bad[i].value, &err));
        if (!strstr(err.message, bad[i].says)) fail_msg("%s", err.message);
        assert_memory_equal(&before, &r, sizeof r);
    }
    ganz_recipe r;
    ganz_recipe_defaults(&r);
    assert_int_equal(GANZ_OK, ganz_recipe_set(&r, "time", "1.5h", NULL));
    near(5400, r.time, 0);
    r.heads = 7;
    assert_int_equal(GANZ_EINVAL, ganz_recipe_check(&r, NULL));
}

/* ---- files -------------------------------------------------------------------------------------- */

static ganz_status parse(ganz_recipe *r, const char *text, ganz_error *err)
{
    ganz_recipe_defaults(r);
    return ganz_recipe_parse(r, text, strlen(text), "my.yaml", err);
}

static void files_are_read(void **state)
{
    (void)state;
    ganz_recipe r;
    assert_int_equal(GANZ_OK, parse(&r, "# all\nwidth: 256 # half\nheads: \"4\"\noptimizer: adam\ntime: 10m\n", NULL));
    assert_int_equal(256, r.width);
    assert_int_equal(4, r.heads);
    assert_int_equal(GANZ_OPTIMIZER_ADAM, r.optimizer);
    near(600, r.time, 0);
    assert_int_equal(2048, r.ffn);
    assert_int_equal(GANZ_OK, parse(&r, "", NULL));
    assert_int_equal(GANZ_OK, parse(&r, "# nothing but a remark\n", NULL));
}

static void files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"width: 256\nheight: 3\n", "my.yaml:2: no setting is named height"},
        {"width: 256\n\nheads: 0\n", "my.yaml:3: heads must be 1 to 256, not 0"},
        {"width: [1, 2]\n", "my.yaml:1: a value is one word"},
        {"width:\n  deep: 2\n", "my.yaml:2: a value is one word"},
        {"- width\n", "my.yaml:1: a recipe is a list"},
        {"width: 256\nwidth: 256\n", "my.yaml:2: width is set twice"},
        {"width: 256\n---\nheads: 2\n", "my.yaml:2: more than one document"},
        {"width: 'open\n", "my.yaml:"},
        {"width: *nothing\n", "my.yaml:1: "},
        {"width\n", "my.yaml:1: a recipe is a list"},
        {"width:\n", "my.yaml:1: width needs a whole number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ganz_recipe r, defaults;
        ganz_error err = {0};
        ganz_recipe_defaults(&defaults);
        assert_int_equal(GANZ_EFORMAT, parse(&r, bad[i].text, &err));
        if (strncmp(err.message, bad[i].says, strlen(bad[i].says)) != 0) fail_msg("%s: %s", bad[i].text, err.message);
        assert_memory_equal(&defaults, &r, sizeof r);
    }
}

static void builtin_recipes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int width, ffn, heads, steps;
        double dropout;
    } known[] = {{"base", 512, 2048, 8, 300000, 0.1},
                 {"big", 1024, 4096, 16, 600000, 0.3},
                 {"small", 256, 2048, 4, 20000, 0.1},
                 {"tiny", 32, 64, 2, 200, 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        ganz_recipe r;
        ganz_error err;
        ganz_recipe_defaults(&r);
        assert_int_equal(GANZ_OK, ganz_recipe_read(&r, known[i].name, &err));
        assert_int_equal(GANZ_OK, ganz_recipe_check(&r, &err));
        assert_int_equal(known[i].width, r.width);
        assert_int_equal(known[i].ffn, r.ffn);
        assert_int_equal(known[i].heads, r.heads);
        assert_int_equal(known[i].steps, r.steps);
        near(known[i].dropout, r.dropout, 0);
    }
    ganz_recipe r;
    ganz_error err = {0};
    assert_int_equal(GANZ_EINVAL, ganz_recipe_read(&r, "huge", &err));
    assert_non_null(strstr(err.message, "no recipe is named huge, only base, "));
    assert_int_equal(GANZ_EIO, ganz_recipe_read(&r, "./absent.yaml", &err));
}

/* ---- schedule ----------------------------------------------------------------------------------- */

static void rate_of_tensor2tensor(void **state)
{
    (void)state;
    ganz_recipe r;
    ganz_recipe_defaults(&r);
    near(0.01, ganz_rate(&r, 0, 0), 1e-12);
    near(0.01, ganz_rate(&r, 10000, 0), 1e-12);
    near(0.00182574, ganz_rate(&r, 300000, 0.9), 1e-5);
    near(0.00168073, ganz_rate(&r, 354000, 1), 1e-5);
    near(0.00129099, ganz_rate(&r, 600000, 1), 1e-5);
    assert_true(ganz_adafactor_decay(0) == 0);
    near(0.574349, 1 - ganz_adafactor_decay(1), 1e-5);
    near(6.309e-4, 1 - ganz_adafactor_decay(10000), 1e-3);
    near(4.152e-5, 1 - ganz_adafactor_decay(300000), 1e-3);
    near(2.385e-5, 1 - ganz_adafactor_decay(600000), 1e-3);
}

static void rate_with_both_ends(void **state)
{
    (void)state;
    ganz_recipe r;
    ganz_recipe_defaults(&r);
    r.learning_rate = 2;
    r.warmup = 100;
    r.decay_start = 400;
    r.cooldown = 0.5;
    near(2.0 / 20 / 100, ganz_rate(&r, 0, 0), 1e-12);
    near(2.0 / 20 / 2, ganz_rate(&r, 49, 0.1), 1e-12);
    near(2.0 / 20, ganz_rate(&r, 99, 0.2), 1e-12);
    near(2.0 / 20, ganz_rate(&r, 399, 0.5), 1e-12);
    near(2.0 / 30 * 0.5, ganz_rate(&r, 900, 0.75), 1e-12);
    assert_true(ganz_rate(&r, 1000, 1) == 0);
    assert_true(ganz_rate(&r, 1000, 1.2) == 0);
}

static void finer_codes_are_tuned_less(void **state)
{
    (void)state;
    ganz_recipe r;
    ganz_recipe_defaults(&r);
    near(1, ganz_tune_factor(&r), 1e-12); /* as the paper goes on from a flat schedule */
    near(0.1 / sqrt(127), ganz_scale_rate(&r), 1e-12);
    r.cooldown = 0.5;
    near(0.0125, ganz_tune_factor(&r), 1e-12);
    r.weight_bits = 7;
    r.activation_bits = 6;
    near(0.05, ganz_tune_factor(&r), 1e-12);
    near(0.1 / sqrt(31), ganz_scale_rate(&r), 1e-12);
    r.bits = 4;
    r.weight_bits = r.activation_bits = 0;
    near(0.2, ganz_tune_factor(&r), 1e-12);
    near(0.1 / sqrt(7), ganz_scale_rate(&r), 1e-12);
    r.rate_factor = 0.3;
    r.scale_rate = 0.4;
    near(0.3, ganz_tune_factor(&r), 1e-12);
    near(0.4, ganz_scale_rate(&r), 1e-12);
}

/* ---- log and chart ------------------------------------------------------------------------------ */

static char dir[] = "/tmp/ganz_recipe_XXXXXX";

static const char *in_dir(const char *name)
{
    static char paths[4][128];
    static int next;
    char *const path = paths[next++ % 4];
    snprintf(path, 128, "%s/%s", dir, name);
    return path;
}

static void add_line(ganz_log *log, double step, double loss, double bleu)
{
    ganz_log_record r = ganz_log_blank();
    r.step = step;
    r.loss = loss;
    r.seconds = step * 2;
    r.valid_bleu = bleu;
    r.valid_loss = isnan(bleu) ? NAN : loss * 1.1;
    assert_int_equal(GANZ_OK, ganz_log_add(log, &r, step == 40 ? "a note" : NULL, NULL));
}

static void log_goes_on_where_the_checkpoint_is(void **state)
{
    (void)state;
    const char *const path = in_dir("log.tsv");
    ganz_log log;
    ganz_error err;
    assert_int_equal(GANZ_OK, ganz_log_open(&log, path, 0, &err));
    for (int i = 1; i <= 5; i++) add_line(&log, i, 10.0 / i, i % 2 ? (double)NAN : i);
    assert_int_equal(5, log.lines);
    ganz_log_close(&log);
    FILE *const file = fopen(path, "a"); /* what a kill leaves behind */
    fputs("6\t0.1", file);
    fclose(file);

    assert_int_equal(GANZ_OK, ganz_log_open(&log, path, 3, &err));
    assert_int_equal(3, log.lines);
    near(6, log.seconds, 0);
    add_line(&log, 40, 1, 20);
    ganz_log_close(&log);

    ganz_log_record *records;
    int count;
    assert_int_equal(GANZ_OK, ganz_log_read(path, &records, &count, &err));
    assert_int_equal(4, count);
    near(3, records[2].step, 0);
    near(40, records[3].step, 0);
    near(20, records[3].valid_bleu, 0);
    assert_true(isnan(records[2].valid_bleu));
    free(records);

    assert_int_equal(GANZ_OK, ganz_log_open(&log, path, 99, &err)); /* lines are missing: go on with what is there */
    assert_int_equal(4, log.lines);
    ganz_log_close(&log);
    assert_int_equal(GANZ_OK, ganz_log_plot(path, in_dir("loss.svg"), "a <run> & more", false, &err));
}

/* A log without the column of notes, as older versions wrote it, stays one. */
static void old_log_goes_on(void **state)
{
    (void)state;
    const char *const path = in_dir("log.tsv");
    FILE *file = fopen(path, "w");
    fputs(
        "step\tepoch\ttokens\tseconds\trate\tloss\taccuracy\ttokens/s\tvalid_loss\tvalid_accuracy\tvalid_bleu\tphase\n"
        "10\t0.5\t100\t20\t0.01\t5\t0.1\t1000\t\t\t\t\n",
        file);
    fclose(file);
    ganz_log log;
    ganz_log_record *records;
    ganz_error err;
    int count;
    assert_int_equal(GANZ_OK, ganz_log_open(&log, path, 1, &err));
    near(20, log.seconds, 0);
    add_line(&log, 40, 1, 20);
    ganz_log_close(&log);
    assert_int_equal(GANZ_OK, ganz_log_read(path, &records, &count, &err));
    assert_int_equal(2, count);
    near(1, records[1].loss, 0);
    free(records);
    char line[512];
    file = fopen(path, "r");
    while (fgets(line, sizeof line, file)) {
        int tabs = 0;
        for (const char *c = line; *c; c++) tabs += *c == '\t';
        assert_int_equal(11, tabs);
    }
    fclose(file);
}

static void log_of_others_is_refused(void **state)
{
    (void)state;
    ganz_log log;
    ganz_error err;
    const char *const path = in_dir("other.tsv");
    FILE *const file = fopen(path, "w");
    fputs("my precious data\n", file);
    fclose(file);
    assert_int_equal(GANZ_EFORMAT, ganz_log_open(&log, path, 0, &err));
    struct stat info;
    assert_int_equal(0, stat(path, &info));
    assert_int_equal(17, info.st_size);
}

static void ticks_are_round(void **state)
{
    (void)state;
    static const struct {
        double low, high, first, step;
        int count;
    } cases[] = {{0, 100, 0, 20, 6}, {0.13, 0.87, 0.2, 0.2, 4}, {-3, 5, -2, 2, 4}, {1234, 98765, 20000, 20000, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double first, step;
        assert_int_equal(cases[i].count, ganz_chart_ticks(cases[i].low, cases[i].high, 7, &first, &step));
        near(cases[i].first, first, 1e-9);
        near(cases[i].step, step, 1e-9);
    }
}

static size_t read_picture(const char *name, char *text, size_t bytes)
{
    FILE *const file = fopen(in_dir(name), "r");
    assert_non_null(file);
    const size_t n = fread(text, 1, bytes - 1, file);
    text[n] = '\0';
    fclose(file);
    return n;
}

typedef struct box {
    double left, top, right, bottom;
    char word[48];
} box;

/* The place of one text of a picture: letters of ordinary fonts are 0.55 of their size wide on average. */
static box box_of(const char *at)
{
    double x = 0, y = 0, size = 13;
    assert_int_equal(2, sscanf(at, "<text x=\"%lf\" y=\"%lf\"", &x, &y));
    const char *const end = strchr(at, '>'), *const sized = strstr(at, "font-size=\"");
    const char *const middle = strstr(at, "\"middle\""), *const right = strstr(at, "\"end\"");
    const char *const turned = strstr(at, "rotate(");
    if (sized && sized < end) size = strtod(sized + 11, NULL);
    const double width = 0.55 * size * (double)strcspn(end + 1, "<");
    const double before = middle && middle < end ? width / 2 : right && right < end ? width : 0;
    box b = {x - before, y - 0.75 * size, x - before + width, y, ""};
    if (turned && turned < end) { /* letters stand to the left of their line, or to the right */
        const double up = strtod(turned + 7, NULL) < 0 ? -0.75 * size : 0.75 * size;
        b = (box){fmin(x, x + up), y - before, fmax(x, x + up), y - before + width, ""};
    }
    snprintf(b.word, sizeof b.word, "%.*s", (int)strcspn(end + 1, "<"), end + 1);
    return b;
}

static void texts_lie_apart(const char *picture)
{
    box boxes[100];
    int count = 0;
    for (const char *at = picture; (at = strstr(at, "<text ")) && count < 100; at++) boxes[count++] = box_of(at);
    assert_true(count > 4);
    for (int i = 0; i < count; i++) {
        if (boxes[i].left < 0 || boxes[i].top < 0 || boxes[i].right > 880 || boxes[i].bottom > 500)
            fail_msg("'%s' is not on the page", boxes[i].word);
        for (int j = 0; j < i; j++)
            if (boxes[i].left < boxes[j].right && boxes[j].left < boxes[i].right && boxes[i].top < boxes[j].bottom &&
                boxes[j].top < boxes[i].bottom)
                fail_msg("'%s' lies on '%s'", boxes[i].word, boxes[j].word);
    }
}

/* A damaged log can hold any number: those that no axis reaches are left out of the picture. */
static void numbers_beyond_every_axis_are_left_out(void **state)
{
    (void)state;
    const char *const path = in_dir("vast.tsv");
    static const double losses[] = {5, 1e300, -1e300, 5.5e22, 4};
    ganz_log log;
    char text[16384];
    assert_int_equal(GANZ_OK, ganz_log_open(&log, path, 0, NULL));
    for (int i = 0; i < 5; i++) {
        ganz_log_record r = ganz_log_blank();
        r.step = i == 3 ? 1e22 : i + 1;
        r.loss = losses[i];
        assert_int_equal(GANZ_OK, ganz_log_add(&log, &r, NULL, NULL));
    }
    ganz_log_close(&log);
    assert_int_equal(GANZ_OK, ganz_log_plot(path, in_dir("vast.svg"), "t", false, NULL));
    read_picture("vast.svg", text, sizeof text);
    texts_lie_apart(text);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
}

/* As another process of a run may send them: every value is written down within its bounds. */
static void settings_of_any_bytes_are_written_down(void **state)
{
    (void)state;
    int count;
    const ganz_setting *const table = ganz_recipe_table(&count);
    ganz_recipe *const recipe = malloc(sizeof *recipe); /* so that sanitizers see what is read behind it */
    for (int byte = 0; byte < 256; byte++) {
        memset(recipe, byte, sizeof *recipe);
        for (int i = 0; i < count; i++) {
            char text[GANZ_VALUE_BYTES];
            memset(text, 'x', sizeof text);
            ganz_recipe_get(recipe, &table[i], text);
            assert_non_null(memchr(text, '\0', sizeof text));
            if (table[i].kind == GANZ_SETTING_CHOICE && byte > 0) assert_string_equal(text, "?");
            if (table[i].kind == GANZ_SETTING_FLAG) assert_string_equal(text, byte > 0 ? "true" : "false");
        }
    }
    free(recipe);
}

static void pairs_keep_all_their_digits(void **state)
{
    (void)state;
    ganz_recipe recipe;
    ganz_error err;
    char text[GANZ_VALUE_BYTES];
    int count;
    const ganz_setting *table = ganz_recipe_table(&count);
    while (strcmp(table->name, "clip") != 0) table++;
    ganz_recipe_defaults(&recipe);
    assert_int_equal(GANZ_OK, ganz_recipe_set(&recipe, "clip", "54:77.7019843969884", &err));
    ganz_recipe_get(&recipe, table, text);
    assert_string_equal("54:77.7019843969884", text);
}

/* A divergence of hundredths is no flat line below a validation loss of two, and phases that begin side by side can be
 * told from each other. */
static void log_of_a_taught_run_is_drawn_to_its_scale(void **state)
{
    (void)state;
    const char *const path = in_dir("taught.tsv");
    static const struct {
        double step, phase, loss, valid;
    } lines[] = {
        {1, 1, 0.03, NAN}, {100, 1, 0.02, 2.3125}, {101, 2, 0.01, NAN}, {104, 3, 0.02, NAN}, {200, 3, 0.01, 2.3}};
    ganz_log log;
    char text[16384];
    assert_int_equal(GANZ_OK, ganz_log_open(&log, path, 0, NULL));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        ganz_log_record r = ganz_log_blank();
        r.step = lines[i].step;
        r.phase = lines[i].phase;
        r.loss = lines[i].loss;
        r.valid_loss = lines[i].valid;
        assert_int_equal(GANZ_OK, ganz_log_add(&log, &r, NULL, NULL));
    }
    ganz_log_close(&log);
    assert_int_equal(GANZ_OK, ganz_log_plot(path, in_dir("loss.svg"), "t", false, NULL));
    read_picture("loss.svg", text, sizeof text);
    assert_non_null(strstr(text, ">validation loss<"));
    assert_non_null(strstr(text, ">2.0<")); /* a tick */
    assert_int_equal(GANZ_OK, ganz_log_plot(path, in_dir("loss.svg"), "t", true, NULL));
    read_picture("loss.svg", text, sizeof text);
    assert_non_null(strstr(text, ">divergence from the teacher<"));
    assert_non_null(strstr(text, ">validation loss above 2.3000<"));
    assert_non_null(strstr(text, ">0.010<"));
    assert_null(strstr(text, ">2.0<"));
    assert_non_null(strstr(text, ">phase 2<"));
    assert_non_null(strstr(text, ">phase 3<"));
    texts_lie_apart(text);
}

static void write_log(const char *path, int lines, double loss, double slope)
{
    ganz_log log;
    assert_int_equal(GANZ_OK, ganz_log_open(&log, path, 0, NULL));
    for (int i = 1; i <= lines; i++) {
        ganz_log_record r = ganz_log_blank();
        r.step = i;
        r.loss = loss + slope * i;
        r.valid_bleu = i % 10 == 0 ? 12.34 + i : NAN;
        assert_int_equal(GANZ_OK, ganz_log_add(&log, &r, NULL, NULL));
    }
    ganz_log_close(&log);
}

/* The path of the line in a color: its d attribute. */
static void line_of(const char *picture, const char *color, char *path, size_t bytes)
{
    char stroke[48];
    snprintf(stroke, sizeof stroke, "fill=\"none\" stroke=\"%s\"", color);
    const char *const begin = strstr(picture, stroke);
    assert_non_null(begin);
    const char *const d = strstr(begin, " d=\"") + 4;
    const size_t n = (size_t)(strchr(d, '"') - d);
    assert_true(n > 0 && n < bytes);
    memcpy(path, d, n);
    path[n] = '\0';
}

/* Points on a straight line are their own mean: a smoothed line that lags behind its points leaves them. */
static void smoothing_does_not_lag(void **state)
{
    (void)state;
    static char text[1 << 18], raw[1 << 16], smoothed[1 << 16];
    write_log(in_dir("log.tsv"), 400, 9, -0.0125);
    assert_int_equal(GANZ_OK, ganz_log_plot(in_dir("log.tsv"), in_dir("loss.svg"), "t", false, NULL));
    read_picture("loss.svg", text, sizeof text);
    line_of(text, "#c9d7e8", raw, sizeof raw);
    line_of(text, "#1f5fa8", smoothed, sizeof smoothed);
    assert_string_equal(raw, smoothed);
    texts_lie_apart(text);
}

/* Ticks of any size leave room for the name of the axis; one step alone is a dot. */
static void charts_of_any_size_are_readable(void **state)
{
    (void)state;
    static const struct {
        int lines;
        double loss, slope;
    } cases[] = {{1, 9.2, 0}, {3, 1e-4, 1e-5}, {40, 123456, -250}, {12, 0, 0}, {25, 7.1234567, 1e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static char text[1 << 16];
        write_log(in_dir("log.tsv"), cases[i].lines, cases[i].loss, cases[i].slope);
        assert_int_equal(GANZ_OK, ganz_log_plot(in_dir("log.tsv"), in_dir("loss.svg"), "t", false, NULL));
        read_picture("loss.svg", text, sizeof text);
        texts_lie_apart(text);
        if (cases[i].lines == 1) assert_non_null(strstr(text, "<circle"));
        assert_null(strstr(text, ">validation loss<")); /* there is none */
    }
}

/* The picture is read by a browser; here: it is whole, escaped and inside its page. */
static void chart_is_whole(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4}, y[] = {5, NAN, 3, 2};
    const ganz_series s = {.label = "a&b", .color = "#123456", .x = x, .y = y, .count = 4, .dots = true, .width = 2};
    const ganz_chart chart = {.title = "<t>", .x_label = "x", .left_label = "y", .series = &s, .count = 1};
    assert_int_equal(GANZ_OK, ganz_chart_write(&chart, in_dir("c.svg"), NULL));
    char text[8192];
    const size_t n = read_picture("c.svg", text, sizeof text);
    assert_non_null(strstr(text, "&lt;t&gt;"));
    assert_non_null(strstr(text, "a&amp;b"));
    assert_null(strstr(text, "nan"));
    assert_string_equal("</svg>\n", text + n - 7);
    int dots = 0;
    for (const char *at = text; (at = strstr(at, "<circle")); at++) dots++;
    assert_int_equal(3, dots);
    const ganz_chart empty = {.title = "none", .x_label = "x", .left_label = "y", .right_label = "z"};
    assert_int_equal(GANZ_OK, ganz_chart_write(&empty, in_dir("e.svg"), NULL));
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {"log.tsv",  "loss.svg", "taught.tsv", "other.tsv",
                                        "vast.tsv", "vast.svg", "c.svg",      "e.svg"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unlink(in_dir(names[i]));
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_whole),
        cmocka_unit_test(values_are_checked),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(files_are_refused),
        cmocka_unit_test(builtin_recipes),
        cmocka_unit_test(rate_of_tensor2tensor),
        cmocka_unit_test(rate_with_both_ends),
        cmocka_unit_test(finer_codes_are_tuned_less),
        cmocka_unit_test(log_goes_on_where_the_checkpoint_is),
        cmocka_unit_test(old_log_goes_on),
        cmocka_unit_test(log_of_others_is_refused),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(numbers_beyond_every_axis_are_left_out),
        cmocka_unit_test(pairs_keep_all_their_digits),
        cmocka_unit_test(settings_of_any_bytes_are_written_down),
        cmocka_unit_test(log_of_a_taught_run_is_drawn_to_its_scale),
        cmocka_unit_test(smoothing_does_not_lag),
        cmocka_unit_test(charts_of_any_size_are_readable),
        cmocka_unit_test(chart_is_whole),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
