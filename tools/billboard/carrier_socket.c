/* The Unix socket at which a curator waits for silos, and where they look for it. */
#include "carrier.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static billboard_status failed(const char *path, const char *what) {
    return cmd_fail(BILLBOARD_FAILED, "%s: %s: %s", path, what, strerror(errno));
}

static billboard_status open_socket(const char *path, int *file,
                                    struct sockaddr_un *name) {
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    *file = -1;
    if (strlen(path) >= sizeof name->sun_path)
        return cmd_fail(BILLBOARD_USAGE,
                        "%s: a socket's path has less than %zu characters", path,
                        sizeof name->sun_path);
    memcpy(name->sun_path, path, strlen(path));
    *file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return *file < 0 ? failed(path, "no socket") : BILLBOARD_OK;
}

static bool connects(int file, const struct sockaddr_un *name) {
    return connect(file, (const struct sockaddr *)name, sizeof *name) == 0;
}

/* What is there already may be left of a curator that was killed. */
static billboard_status make_way(const char *path, const struct sockaddr_un *name) {
    struct stat there;
    struct sockaddr_un same;
    int file;
    if (lstat(path, &there)) return BILLBOARD_OK;
    const billboard_status status = open_socket(path, &file, &same);
    if (status) return status;
    const bool used = !S_ISSOCK(there.st_mode) || connects(file, name);
    close(file);
    if (used) return cmd_fail(BILLBOARD_FAILED, "%s: is in use already", path);
    return unlink(path) ? failed(path, "cannot be replaced") : BILLBOARD_OK;
}

/* Every connection is an open file, beside the files of the run. */
static billboard_status make_room_for_all(const char *path, uint32_t connections) {
    enum { FILES = 100 };
    const rlim_t need = (rlim_t)connections + FILES;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= need) return BILLBOARD_OK;
    files.rlim_cur = need;
    if (files.rlim_max >= need && !setrlimit(RLIMIT_NOFILE, &files))
        return BILLBOARD_OK;
    return cmd_fail(BILLBOARD_FAILED,
                    "%s: %u connections need %llu open files; this process may have "
                    "%llu (ulimit -n)",
                    path, connections, (unsigned long long)need,
                    (unsigned long long)files.rlim_max);
}

billboard_status carrier_socket_listen(const char *path, uint32_t connections,
                                       int *file) {
    struct sockaddr_un name;
    int made = -1;
    *file = -1;
    billboard_status status = make_room_for_all(path, connections);
    if (!status) status = open_socket(path, &made, &name);
    if (!status) status = make_way(path, &name);
    if (!status) {
        const mode_t before = umask(0177);
        const int bound = bind(made, (const struct sockaddr *)&name, sizeof name);
        umask(before);
        if (bound || listen(made, (int)connections))
            status = failed(path, "cannot be made");
        if (status && !bound) unlink(path);
    }
    if (!status)
        *file = made;
    else if (made >= 0)
        close(made);
    return status;
}

billboard_status carrier_socket_reach(const char *path, int *file) {
    struct sockaddr_un name;
    const billboard_status status = open_socket(path, file, &name);
    if (status || connects(*file, &name)) return status;
    close(*file);
    *file = -1;
    return BILLBOARD_OK;
}
