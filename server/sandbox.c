/* Landlock for files and a list of calls for seccomp, both through the kernel's own interfaces. Where the kernel lacks
 * one, or a sanitizer needs what it forbids, the server runs without. */
#define _GNU_SOURCE
#include "sandbox.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define WITHOUT_SANDBOX
#endif
#endif
#else
#define WITHOUT_SANDBOX
#endif

#if defined(WITHOUT_SANDBOX) || !(defined(__x86_64__) || defined(__aarch64__))

void sandbox_memory(void) {}
bool sandbox_files(const server_options *o) { return (void)o, false; }
bool sandbox_calls(void) { return false; }

#else

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- memory ------------------------------------------------------------------------------------- */

/* Where cores go to a program the limit says nothing, but a process that may not be dumped has none. */
void sandbox_memory(void)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* ---- files -------------------------------------------------------------------------------------- */

enum {
    READS = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    ALL_FIRST = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 /* those of the first version of Landlock */
};

static void allow(int rules, const char *path, bool execute)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = READS | (execute ? LANDLOCK_ACCESS_FS_EXECUTE : 0)};
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) return;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) { /* no folder: a file */
        rule.allowed_access &= ~(__u64)LANDLOCK_ACCESS_FS_READ_DIR;
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    close(rule.parent_fd);
}

static void allow_folder(int rules, const char *path)
{
    char copy[4096];
    if (!path || snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) return;
    allow(rules, dirname(copy), false);
}

/* The folder of a file that may be replaced and opened again, and where a link leads, the folder of the file itself. */
static void allow_folder_of(int rules, const char *path)
{
    char *const file = path ? realpath(path, NULL) : NULL;
    allow_folder(rules, path);
    allow_folder(rules, file);
    free(file);
}

bool sandbox_files(const server_options *o)
{
    /* libraries are looked for when the first float product is made */
    static const char *const system_files[] = {"/usr/lib", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache"};
    static const char *const facts[] = {"/proc/self", "/proc/sys/vm", "/sys/devices/system/cpu", "/dev/null"};
    const struct landlock_ruleset_attr attributes = {.handled_access_fs = ALL_FIRST};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (rules < 0) return false;
    for (size_t i = 0; i < sizeof system_files / sizeof *system_files; i++) allow(rules, system_files[i], true);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) allow(rules, facts[i], false);
    for (int i = 0; i < o->model_count; i++) allow_folder_of(rules, o->models[i]);
    allow_folder_of(rules, o->keys_path);
    if (o->web_root) allow(rules, o->web_root, false);
    const bool done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}

/* ---- calls -------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static const int calls[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_openat,
    SYS_memfd_create, /* models inside the program */
    SYS_fcntl,
    SYS_ioctl,
    SYS_pipe2,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_ppoll,
    SYS_accept4,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_sendto,
    SYS_sendmsg,
    SYS_shutdown,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_getsockname,
    SYS_getpeername,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_madvise,
    SYS_mremap,
    SYS_brk,
    SYS_futex,
    SYS_membarrier,
    SYS_clone,
    SYS_clone3,
    SYS_exit,
    SYS_exit_group,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_getpid,
    SYS_gettid,
    SYS_tgkill,
    SYS_getuid,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_prlimit64,
    SYS_uname,
    SYS_prctl,
    SYS_get_mempolicy,
    SYS_getcpu,
#if defined(__x86_64__)
    SYS_poll,
    SYS_open,
    SYS_stat,
    SYS_access,
    SYS_readlink,
    SYS_pipe,
    SYS_time,
    SYS_arch_prctl,
#endif
#ifndef __GLIBC__
    SYS_tkill, /* musl's pthread_kill */
#endif
};
enum { CALLS = sizeof calls / sizeof calls[0] };

bool sandbox_calls(void)
{
    struct sock_filter filter[CALLS + 8];
    unsigned short n = 0;
#define STATEMENT(code, value) filter[n++] = (struct sock_filter)BPF_STMT(code, value)
#define JUMP(value, yes, no) filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
    STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    JUMP(OWN_ARCHITECTURE, 1, 0);
    STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++) JUMP((unsigned)calls[i], (unsigned char)(CALLS - i), 0);
    STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
#undef STATEMENT
#undef JUMP
    const struct sock_fprog program = {.len = n, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

#endif
