/* Landlock by its system calls, for which the C library has no functions; seccomp by libseccomp. */
#define _GNU_SOURCE /* O_PATH */
#include "base/process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that kernels have and the headers of Debian 12 have not. */
#define ACCESS_TRUNCATE ((uint64_t)1 << 14)  /* Landlock 3 */
#define ACCESS_IOCTL_DEV ((uint64_t)1 << 15) /* Landlock 5 */

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE                                                                                      \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |                              \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | ACCESS_TRUNCATE)
/* rights to a file that is no folder */
#define OF_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)

/* Read while the daemon runs: converters of iconv, libgcc_s for pthread_cancel, name services and
 * hosts for getaddrinfo, the number of processors. */
static const char *const system_files[] = {
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/zoneinfo",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/services",
    "/proc/self",
    "/sys/devices/system/cpu",
};

/* The rights that a version of Landlock knows. A ruleset with others is refused. */
static uint64_t rights_of(long version) {
    return version >= 5   ? (ACCESS_IOCTL_DEV << 1) - 1
           : version >= 3 ? (ACCESS_TRUNCATE << 1) - 1
           : version == 2 ? ((uint64_t)LANDLOCK_ACCESS_FS_REFER << 1) - 1
                          : ((uint64_t)LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
}

static bool allow(int ruleset, const char *path, uint64_t rights) {
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};
    rule.parent_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rule.parent_fd < 0) {
        rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
        rule.allowed_access &= OF_FILES;
    }
    if (rule.parent_fd < 0) {
        return true; /* there is nothing to allow */
    }
    const long bad = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return bad == 0;
}

static bool allow_all(int ruleset, const char *const *paths, size_t n, uint64_t rights) {
    for (size_t i = 0; i < n; i++) {
        if (!allow(ruleset, paths[i], rights)) {
            return false;
        }
    }
    return true;
}

static bool restrict_files(long version, const char *const *folders, size_t n,
                           const char *const *readable, size_t n_readable) {
    const uint64_t known = rights_of(version);
    const struct landlock_ruleset_attr handled = {.handled_access_fs = known};
    const int ruleset =
        (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0);
    if (ruleset < 0) {
        return false;
    }
    const bool good =
        allow_all(ruleset, folders, n, (READ | WRITE) & known) &&
        allow_all(ruleset, readable, n_readable, READ) &&
        allow_all(ruleset, system_files, sizeof system_files / sizeof system_files[0], READ) &&
        syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return good;
}

static bool restrict_calls(void) {
    static const int refused[] = {
        /* programs and other processes */
        SCMP_SYS(execve),
        SCMP_SYS(execveat),
        SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
        SCMP_SYS(kcmp),
        SCMP_SYS(pidfd_getfd),
        /* files past Landlock */
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(io_uring_enter),
        SCMP_SYS(io_uring_register),
        SCMP_SYS(open_by_handle_at),
        SCMP_SYS(name_to_handle_at),
        /* mounts and namespaces */
        SCMP_SYS(mount),
        SCMP_SYS(umount2),
        SCMP_SYS(pivot_root),
        SCMP_SYS(chroot),
        SCMP_SYS(move_mount),
        SCMP_SYS(open_tree),
        SCMP_SYS(fsopen),
        SCMP_SYS(fsconfig),
        SCMP_SYS(fsmount),
        SCMP_SYS(fspick),
        SCMP_SYS(mount_setattr),
        SCMP_SYS(unshare),
        SCMP_SYS(setns),
        SCMP_SYS(swapon),
        SCMP_SYS(swapoff),
        SCMP_SYS(quotactl),
        /* the kernel */
        SCMP_SYS(init_module),
        SCMP_SYS(finit_module),
        SCMP_SYS(delete_module),
        SCMP_SYS(kexec_load),
        SCMP_SYS(kexec_file_load),
        SCMP_SYS(bpf),
        SCMP_SYS(perf_event_open),
        SCMP_SYS(userfaultfd),
        SCMP_SYS(add_key),
        SCMP_SYS(request_key),
        SCMP_SYS(keyctl),
        SCMP_SYS(reboot),
        SCMP_SYS(acct),
        SCMP_SYS(settimeofday),
        SCMP_SYS(clock_settime),
        SCMP_SYS(clock_adjtime),
        SCMP_SYS(adjtimex),
        SCMP_SYS(sethostname),
        SCMP_SYS(setdomainname),
        SCMP_SYS(syslog),
    };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    /* TSYNC: the threads of OpenBLAS, which run already, get the filter too */
    bool good = filter && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0;
    for (size_t i = 0; good && i < sizeof refused / sizeof refused[0]; i++) {
        good = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0) == 0;
    }
    good = good && seccomp_load(filter) == 0;
    if (filter) {
        seccomp_release(filter);
    }
    return good;
}

struct sandbox sandbox_enter(const char *const *folders, size_t n, const char *const *readable,
                             size_t n_readable) {
    struct sandbox s = {0};
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return s;
    }
    if (version > 0 && restrict_files(version, folders, n, readable, n_readable)) {
        s.landlock = (int)version;
    }
    s.seccomp = restrict_calls();
    return s;
}
