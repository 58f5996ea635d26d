/* ganz serve: translation over HTTP. The server is in server/; here are its options and its signals. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli.h"
#include "server/server.h"

/* clang-format off */
const cli_command cli_about_serve = {
    "serve", "[--model MODEL]... [--port N]", "translate over HTTP: a page for people, interfaces for programs",
    "Opens the models and answers on http://127.0.0.1:5000/ : with a page to type into, and with the interfaces of\n"
    "LibreTranslate (/translate) and DeepL (/v2/translate) for programs. Without --model it takes all models that come\n"
    "with the program.\n"
    "\n"
    "SIGTERM and Ctrl-C end it once what was accepted is answered. SIGHUP opens the models anew; no request is lost.\n"
    "Sockets that systemd passes are used in place of --host and --port.\n"
    "\n"
    "Only this machine is served unless --host says otherwise. Pages of other sites are refused unless --cors names "
    "them.\n",
};
/* clang-format on */

static void say(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "ganz serve: %s\n", sentence);
}

/* A reader that is too slow loses lines: the server does not wait for it. */
static void write_log(void *context, const char *line, size_t bytes)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)context;
    if (poll(&out, 1, 0) == 1 && write(STDERR_FILENO, line, bytes) < 0) return; /* nobody to tell */
}

/* ---- signals ------------------------------------------------------------------------------------ */

typedef struct listener {
    server *server;
    sigset_t set;
    int signal; /* that ended it */
} listener;

/* Threads that a linked library started before main do not block our signals, and the system may choose one of them:
 * it passes the signal on. */
static pthread_t waiting_thread;
static volatile sig_atomic_t is_waiting, early_signal; /* early: came before there was somebody to pass it on to */

static void pass_on(int number)
{
    if (is_waiting) pthread_kill(waiting_thread, number);
    else early_signal = number;
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction how = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigemptyset(&how.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) sigaction(numbers[i], &how, NULL);
}

/* A thread that waits for signals, so that nothing happens inside a handler. SIGUSR2 ends it. */
static void *wait_for_signals(void *context)
{
    listener *const l = context;
    waiting_thread = pthread_self();
    is_waiting = 1;
    if (early_signal) pthread_kill(waiting_thread, early_signal);
    for (int number; sigwait(&l->set, &number) == 0;) {
        ganz_error err;
        if (number == SIGUSR2) break;
        if (number == SIGHUP) {
            server_reload(l->server, &err);
            continue;
        }
        if (l->signal) _exit(128 + number); /* the second one: at once */
        l->signal = number;
        say(NULL, "stopping once all that was accepted is answered");
        server_stop(l->server);
    }
    return NULL;
}

static int run(const server_options *o)
{
    ganz_error err;
    listener l = {.signal = 0};
    pthread_t thread;
    sigemptyset(&l.set);
    sigaddset(&l.set, SIGINT);
    sigaddset(&l.set, SIGTERM);
    sigaddset(&l.set, SIGHUP);
    sigaddset(&l.set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &l.set, NULL); /* for all threads to come */
    catch_signals();
    ganz_status status = server_open(&l.server, o, &err);
    if (status != GANZ_OK) return cli_fail(&cli_about_serve, &err);
    if (pthread_create(&thread, NULL, wait_for_signals, &l) != 0) {
        server_close(&l.server);
        return cli_fail_errno(&cli_about_serve, "start", "a thread");
    }
    status = server_run(l.server, &err);
    pthread_kill(thread, SIGUSR2);
    pthread_join(thread, NULL);
    server_close(&l.server);
    return status == GANZ_OK ? CLI_OK : cli_fail(&cli_about_serve, &err);
}

/* ---- models ------------------------------------------------------------------------------------- */

/* The files of the models that are named, else all that come with the program. */
static int find_models(const cli_list *given, char (*paths)[CLI_PATH], const char **models)
{
    char path[CLI_PATH];
    int count = 0;
    for (int i = 0; i < given->count; i++) {
        const char *const found = cli_find_model(given->items[i], path);
        snprintf(paths[count], CLI_PATH, "%s", found ? found : given->items[i]);
        count++;
    }
    if (count == 0) count = cli_list_models(paths, CLI_MODELS);
    for (int i = 0; i < count; i++) models[i] = paths[i];
    return count;
}

/* A port that browsers leave out, because it is that of the scheme. */
static bool has_usual_port(const char *text)
{
    const char *const port = strrchr(text, ':');
    return (strncasecmp(text, "https:", 6) == 0 && strcmp(port, ":443") == 0) ||
           (strncasecmp(text, "http:", 5) == 0 && strcmp(port, ":80") == 0);
}

/* What browsers send as Origin: scheme, host and port alone. Anything else would never be equal to one. */
static bool is_origin(const char *text)
{
    const char *const mark = strstr(text, "://");
    if (strcmp(text, "*") == 0 || strcmp(text, "null") == 0) return true;
    return mark && mark > text && mark[3] && !strpbrk(mark + 3, "/?#@, ") && !has_usual_port(text);
}

static int run_with_models(server_options *o, const cli_list *given)
{
    if (given->count > CLI_MODELS) return cli_usage(&cli_about_serve, "at most %d models", CLI_MODELS);
    char(*const paths)[CLI_PATH] = calloc(CLI_MODELS, sizeof *paths);
    const char *models[CLI_MODELS];
    if (!paths) return cli_fail_errno(&cli_about_serve, "open", "the models");
    o->models = models;
    o->model_count = find_models(given, paths, models);
    const int code = o->model_count > 0 ? run(o) : cli_no_model(&cli_about_serve, "give --model FILE");
    free(paths);
    return code;
}

int cli_run_serve(int argc, char **argv)
{
    server_options o;
    server_defaults(&o);
    o.say = say;
    o.write_log = write_log;
    cli_list models = {0}, hosts = {0}, rest = {0};
    long long port = o.port, beam = o.beam, threads = 0, characters = o.max_characters, requests = o.max_requests,
              remember = 0;
    const cli_option options[] = {
        {"model", 'm', CLI_LIST, &models, "MODEL", "models: files, or pairs of languages such as de-en", 0, 0},
        {"host", 0, CLI_TEXT, &o.host, "ADDRESS", "where to listen; 127.0.0.1: this machine, 0.0.0.0: everywhere", 0,
         0},
        {"port", 'p', CLI_INT, &port, "N", "where to listen; 0: any that is free", 0, 65535},
        {"unix", 0, CLI_TEXT, &o.unix_path, "FILE", "listen on a Unix socket instead", 0, 0},
        {"allow-host", 0, CLI_LIST, &hosts, "NAME", "names that requests may call this server, beside localhost", 0, 0},
        {"cors", 0, CLI_TEXT, &o.cors, "ORIGIN", "a site whose pages may ask, or * for all", 0, 0},
        {"trust-proxy", 0, CLI_FLAG, &o.trust_proxy, NULL, "who asks is who the proxy on this machine says", 0, 0},
        {"keys", 0, CLI_TEXT, &o.keys_path, "FILE", "API keys, one a line, one of which a request needs", 0, 0},
        {"metrics", 0, CLI_FLAG, &o.metrics, NULL, "answer /metrics with counters", 0, 0},
        {"log", 0, CLI_FLAG, &o.log, NULL, "a line of JSON on standard error for each request, without its text", 0, 0},
        {"sandbox", 0, CLI_FLAG, &o.sandbox, NULL, "give up what a server has no use for, by Landlock and seccomp", 0,
         0},
        {"web-root", 0, CLI_TEXT, &o.web_root, "FOLDER", "files that stand in for those of the page", 0, 0},
        {"beam", 'b', CLI_INT, &beam, "N", "hypotheses kept at each step", 1, 64},
        {"threads", 'j', CLI_INT, &threads, "N", "that translate, for each model; 0: all cores", 0, 256},
        {"remember", 0, CLI_INT, &remember, "MB", "of memory for sentences that come again, for each model; 0: none", 0,
         1 << 20},
        {"max-characters", 0, CLI_INT, &characters, "N", "of the texts of a request", 1, 1 << 24},
        {"max-requests", 0, CLI_INT, &requests, "N", "at once; more are refused", 1, 4096},
        {"max-wait", 0, CLI_REAL, &o.max_wait, "SECONDS", "refuse requests that would wait longer for their turn", 0,
         3600},
        {"timeout", 0, CLI_REAL, &o.seconds, "SECONDS", "for a request", 0.1, 86400},
        {"drain", 0, CLI_REAL, &o.drain_seconds, "SECONDS", "at the end, for requests that were accepted", 0, 86400},
        {0},
    };
    int code = cli_parse(&cli_about_serve, options, argc, argv, &rest);
    o.port = (int)port;
    o.beam = (int)beam;
    o.workers = (int)threads;
    o.remember = (size_t)remember << 20;
    o.max_characters = (long)characters;
    o.max_requests = (int)requests;
    o.hosts = hosts.items;
    o.host_count = hosts.count;
    if (code < 0 && rest.count > 0) code = cli_usage(&cli_about_serve, "%s is no option", rest.items[0]);
    if (code < 0 && o.cors && !is_origin(o.cors))
        code = cli_usage(&cli_about_serve,
                         "--cors is an origin such as https://example.org, with nothing behind it, "
                         "or * for all, not %s",
                         o.cors);
    if (code < 0) code = run_with_models(&o, &models);
    cli_list_free(&models);
    cli_list_free(&hosts);
    cli_list_free(&rest);
    return code;
}
