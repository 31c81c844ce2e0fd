// test_record_file.c - output files: never half a file in place of a whole one, every short, interrupted or
// failed system call a status, and what a killed process leaves behind can be read.
#define _POSIX_C_SOURCE 200809L
#include "mcap_sample.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/volery-file-XXXXXX";
static char target[64], part[72];

static int make_folder(void **unused)
{
    (void)unused;
    signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(target, sizeof target, "%s/run.mcap", folder);
    snprintf(part, sizeof part, "%s.part", target);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    char path[96];
    unlink(target);
    unlink(part);
    for (int i = 1; i < 10; ++i) {
        snprintf(path, sizeof path, "%s.%d", part, i);
        unlink(path);
    }
    return rmdir(folder);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static size_t get_bytes(const char *path, unsigned char *data, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    const size_t size = fread(data, 1, capacity, file);
    fclose(file);
    return size;
}

static bool holds(const char *path, const char *text)
{
    unsigned char data[64];
    const size_t size = get_bytes(path, data, sizeof data);
    return size == strlen(text) && memcmp(data, text, size) == 0;
}

static void old_file_stays_until_commit(void **unused)
{
    (void)unused;
    put_text(target, "old");
    for (int end = 0; end < 3; ++end) {
        vy_file_sink *file = NULL;
        unlink(part);
        assert_int_equal(vy_file_sink_open(target, NULL, &file, NULL), VY_OK);
        const vy_byte_sink sink = vy_file_sink_bytes(file);
        assert_int_equal(sink.write(sink.self, "new", 3, NULL), VY_OK);
        assert_true(holds(part, "")); // gathered
        assert_int_equal(sink.flush(sink.self, NULL), VY_OK);
        assert_true(holds(part, "new"));
        assert_true(holds(target, "old"));
        if (end == 0) vy_file_sink_discard(file);
        if (end == 1) vy_file_sink_abandon(file);
        if (end == 2) assert_int_equal(vy_file_sink_commit(file, NULL), VY_OK);
        assert_true(holds(target, end == 2 ? "new" : "old"));
        assert_int_equal(access(part, F_OK) == 0, end == 1);
    }
}

// What cannot be opened is named, with its reason, before anything is lost.
static void open_errors(void **unused)
{
    (void)unused;
    vy_file_sink *file = NULL;
    vy_error err;
    assert_int_equal(vy_file_sink_open(folder, NULL, &file, &err), VY_IO); // a directory
    assert_null(file);
    assert_string_equal(err.file, folder);
    assert_int_equal(vy_file_sink_open("/tmp/volery-none/x/run.mcap", NULL, &file, &err), VY_NOT_FOUND);
    assert_non_null(strstr(err.text, "No such file"));
    vy_byte_source source;
    assert_int_equal(vy_file_source_open(folder, &source, &err), VY_IO);
    assert_int_equal(vy_file_source_open("/tmp/volery-none", &source, &err), VY_NOT_FOUND);
    assert_int_equal(vy_file_source_open("/dev/null", &source, &err), VY_IO);
}

// What a killed run left is kept under the next free number, a link is moved and not followed, an empty file
// is not worth it.
static void older_part_is_kept(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"first", "second", "third"};
    char kept[96], victim[96];
    snprintf(victim, sizeof victim, "%s/victim", folder);
    for (int i = 0; i < 5; ++i) {
        vy_file_sink *file = NULL;
        unlink(part);
        if (i < 3) put_text(part, texts[i]);
        if (i == 3) put_text(victim, "precious");
        if (i == 3) assert_int_equal(symlink(victim, part), 0);
        if (i == 4) put_text(part, "");
        assert_int_equal(vy_file_sink_open(target, NULL, &file, NULL), VY_OK);
        snprintf(kept, sizeof kept, "%s.%d", part, i + 1);
        if (i < 4) assert_string_equal(vy_file_sink_backup(file), kept);
        if (i == 4) assert_null(vy_file_sink_backup(file));
        const vy_byte_sink sink = vy_file_sink_bytes(file);
        assert_int_equal(sink.write(sink.self, "new", 3, NULL), VY_OK);
        assert_int_equal(vy_file_sink_commit(file, NULL), VY_OK);
        assert_true(holds(target, "new"));
        assert_int_equal(access(part, F_OK), -1);
    }
    for (int i = 0; i < 3; ++i) {
        snprintf(kept, sizeof kept, "%s.%d", part, i + 1);
        assert_true(holds(kept, texts[i]));
    }
    assert_true(holds(victim, "precious"));
    unlink(victim);
}

// Eight processes write one file at once, many times: each is whole or refused, and nothing else is left.
static void many_writers_at_once(void **unused)
{
    (void)unused;
    enum { WRITERS = 8, ROUNDS = 60, LENGTH = 40 };
    pid_t children[WRITERS];
    for (int w = 0; w < WRITERS; ++w) {
        children[w] = fork();
        if (children[w] != 0) continue;
        char text[LENGTH];
        memset(text, 'a' + w, sizeof text);
        for (int round = 0; round < ROUNDS; ++round) {
            vy_file_sink *file = NULL;
            const vy_status status = vy_file_sink_open(target, NULL, &file, NULL);
            if (status == VY_BAD_STATE) continue;
            if (status != VY_OK || vy_file_sink_backup(file) != NULL) _exit(1);
            const vy_byte_sink sink = vy_file_sink_bytes(file);
            for (int i = 0; i < LENGTH; ++i) {
                if (sink.write(sink.self, text + i, 1, NULL) != VY_OK) _exit(2);
                if (sink.flush(sink.self, NULL) != VY_OK) _exit(3);
            }
            if (vy_file_sink_commit(file, NULL) != VY_OK) _exit(4);
            unsigned char seen[64];
            if (get_bytes(target, seen, sizeof seen) != LENGTH) _exit(5);
            for (int i = 1; i < LENGTH; ++i) {
                if (seen[i] != seen[0]) _exit(6);
            }
        }
        _exit(0);
    }
    for (int w = 0; w < WRITERS; ++w) {
        int status = 1;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(access(part, F_OK), -1);
}

// The lock holds within a process, too, and until the file has its name.
static void one_process_writes_once(void **unused)
{
    (void)unused;
    vy_file_sink *file = NULL, *other = NULL;
    vy_error err;
    assert_int_equal(vy_file_sink_open(target, NULL, &file, NULL), VY_OK);
    assert_true(vy_file_has_writer(part));
    assert_int_equal(vy_file_sink_open(target, NULL, &other, &err), VY_BAD_STATE);
    assert_non_null(strstr(err.text, "is being written by another process"));
    FILE *stream = vy_file_sink_stream(file);
    assert_non_null(stream);
    fprintf(stream, "number %d", 7);
    assert_int_equal(vy_file_sink_commit(file, NULL), VY_OK);
    assert_true(holds(target, "number 7"));
    assert_false(vy_file_has_writer(target));
}

// A second process may not write the same file, and does not harm what the first has written.
static void second_writer_is_refused(void **unused)
{
    (void)unused;
    vy_file_sink *file = NULL;
    assert_int_equal(vy_file_sink_open(target, NULL, &file, NULL), VY_OK);
    const vy_byte_sink sink = vy_file_sink_bytes(file);
    assert_int_equal(sink.write(sink.self, "first", 5, NULL), VY_OK);
    assert_int_equal(sink.flush(sink.self, NULL), VY_OK);
    const pid_t child = fork();
    if (child == 0) {
        vy_file_sink *other = NULL;
        _exit(vy_file_sink_open(target, NULL, &other, NULL) == VY_BAD_STATE ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(vy_file_sink_commit(file, NULL), VY_OK);
    assert_true(holds(target, "first"));
}

// System calls that fail on purpose.
typedef struct fault {
    int call;    // calls of write so far
    int fail_at; // this write and all after it fail with `error`; -1: none
    int error;
    bool shorter;            // take one byte, or some, and be interrupted now and then
    int sync, close, rename; // what these return
    random_source random;
} fault;

static int64_t faulty_write(void *self, int file, const void *data, size_t size)
{
    fault *f = self;
    const int call = f->call++;
    if (f->fail_at >= 0 && call >= f->fail_at) return -f->error;
    if (f->shorter && call % 3 == 1) return -EINTR;
    const size_t part_size = f->shorter ? 1 + random_bits(&f->random) % size : size;
    const ssize_t done = write(file, data, part_size);
    return done < 0 ? -errno : done;
}

static int faulty_sync(void *self, int file)
{
    (void)file;
    return ((fault *)self)->sync;
}

static int faulty_close(void *self, int file)
{
    close(file);
    return ((fault *)self)->close;
}

static int faulty_rename(void *self, const char *from, const char *to)
{
    const fault *f = self;
    if (f->rename != 0) return f->rename;
    return rename(from, to) == 0 ? 0 : -errno;
}

// The sample to the target through faulty calls; ends as the program would end it.
static vy_status write_target(fault *f, int count, bool threaded, vy_error *err)
{
    const vy_file_calls calls = {f, faulty_write, faulty_sync, faulty_close, faulty_rename};
    vy_mcap_writer_def def = sample_def(VY_MCAP_ZSTD, 500);
    def.threaded = threaded;
    vy_file_sink *file = NULL;
    unlink(part);
    assert_int_equal(vy_file_sink_open(target, &calls, &file, err), VY_OK);
    const vy_status status = sample_write(&def, vy_file_sink_bytes(file), count, err);
    if (status == VY_OK) return vy_file_sink_commit(file, err);
    vy_file_sink_abandon(file);
    return status;
}

static void short_and_interrupted_writes_change_nothing(void **unused)
{
    (void)unused;
    static unsigned char straight[1 << 16], faulted[1 << 16];
    fault none = {.fail_at = -1};
    vy_error err;
    assert_int_equal(write_target(&none, 200, false, &err), VY_OK);
    const size_t size = get_bytes(target, straight, sizeof straight);
    assert_true(size > 1000);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        fault f = {.fail_at = -1, .shorter = true, .random = {seed}};
        assert_int_equal(write_target(&f, 200, false, &err), VY_OK);
        assert_int_equal(get_bytes(target, faulted, sizeof faulted), size);
        assert_memory_equal(straight, faulted, size);
    }
}

// A disk that fills up at any write: the older file stays, the new one can be read up to its last whole
// chunk, the error names it.
static void full_disk_at_every_write(void **unused)
{
    (void)unused;
    vy_error err;
    fault none = {.fail_at = -1, .shorter = true};
    assert_int_equal(write_target(&none, 100, false, &err), VY_OK);
    const int calls = none.call;
    for (int variant = 0; variant < 2; ++variant) {
        int max = 0;
        for (int fail_at = 0; fail_at < calls; ++fail_at) {
            put_text(target, "old");
            fault f = {.fail_at = fail_at, .error = ENOSPC, .shorter = true};
            assert_int_equal(write_target(&f, 100, variant == 1, &err), VY_IO);
            assert_non_null(strstr(err.text, "No space left"));
            assert_string_equal(err.file, part);
            assert_true(holds(target, "old"));
            assert_int_equal(f.call, fail_at + 1); // not asked again after the failure
            vy_mcap_reader *reader = NULL;
            const vy_status status = vy_mcap_reader_open(part, NULL, &reader, &err);
            assert_true(status == VY_OK || fail_at < 20);
            if (status != VY_OK) continue;
            assert_true(vy_mcap_reader_info(reader)->recovered);
            vy_status read;
            const int count = sample_prefix(reader, &read);
            assert_int_equal(read, VY_OK);
            assert_true(count >= max); // later failures lose no more
            max = count;
            vy_mcap_reader_close(reader);
        }
        assert_int_equal(max, 100);
    }
}

static void failing_end_keeps_the_old_file(void **unused)
{
    (void)unused;
    const fault faults[] = {
        {.fail_at = -1, .close = -EDQUOT}, {.fail_at = -1, .rename = -EXDEV}, {.fail_at = -1, .sync = -EIO}};
    for (int i = 0; i < 3; ++i) {
        put_text(target, "old");
        fault f = faults[i];
        vy_error err;
        assert_int_equal(write_target(&f, 100, false, &err), VY_IO);
        assert_true(holds(target, "old"));
        vy_mcap_reader *reader = NULL;
        assert_int_equal(vy_mcap_reader_open(part, NULL, &reader, &err),
                         VY_OK); // whole, under its other name
        assert_int_equal(vy_mcap_reader_verify(reader, &err), VY_OK);
        vy_mcap_reader_close(reader);
    }
    fault zero = {.fail_at = 3, .error = 0}; // a write that takes nothing, for ever
    vy_error err;
    assert_int_equal(write_target(&zero, 100, false, &err), VY_IO);
}

// The kernel's own faults: a full device and a pipe that nobody reads are written in place.
static void full_device_and_closed_pipe(void **unused)
{
    (void)unused;
    const vy_mcap_writer_def def = sample_def(VY_MCAP_NONE, 500);
    vy_file_sink *file = NULL;
    vy_error err;
    assert_int_equal(vy_file_sink_open("/dev/full", NULL, &file, &err), VY_OK);
    assert_int_equal(sample_write(&def, vy_file_sink_bytes(file), 100, &err), VY_IO);
    assert_string_equal(err.file, "/dev/full");
    vy_file_sink_abandon(file);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    assert_int_equal(vy_file_sink_open(name, NULL, &file, &err), VY_OK);
    close(ends[0]);
    assert_int_equal(sample_write(&def, vy_file_sink_bytes(file), 100, &err), VY_IO);
    assert_non_null(strstr(err.text, "Broken pipe"));
    vy_file_sink_abandon(file);
    close(ends[1]);
}

// A whole log through a pipe that does not block.
static void pipe_is_written_in_place(void **unused)
{
    (void)unused;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        char name[32];
        snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
        const vy_mcap_writer_def def = sample_def(VY_MCAP_NONE, 100000);
        vy_file_sink *file = NULL;
        bool ok = vy_file_sink_open(name, NULL, &file, NULL) == VY_OK;
        ok = ok && sample_write(&def, vy_file_sink_bytes(file), 20000, NULL) == VY_OK;
        ok = ok && vy_file_sink_commit(file, NULL) == VY_OK;
        _exit(ok ? 0 : 1);
    }
    close(ends[1]);
    mcap_bytes bytes = {0};
    unsigned char block[4096];
    for (ssize_t size; (size = read(ends[0], block, sizeof block)) > 0;)
        mcap_bytes_put(&bytes, block, (size_t)size);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    vy_mcap_reader *reader = NULL;
    const vy_byte_source source = vy_memory_source(bytes.data, bytes.size);
    assert_int_equal(vy_mcap_reader_open_source(source, NULL, &reader, NULL), VY_OK);
    assert_int_equal(vy_mcap_reader_verify(reader, NULL), VY_OK);
    vy_mcap_reader_close(reader);
    mcap_bytes_free(&bytes);
}

// Killed at 50 moments: what is there opens, every message in it is right, and the older log is untouched.
static void killed_at_any_moment(void **unused)
{
    (void)unused;
    random_source r = {.state = 17};
    int max = 0;
    for (int round = 0; round < 50; ++round) {
        put_text(target, "old");
        unlink(part);
        const pid_t child = fork();
        if (child == 0) {
            vy_mcap_writer_def def = sample_def(round % 2 ? VY_MCAP_ZSTD : VY_MCAP_NONE, 20000);
            def.threaded = round % 4 >= 2;
            vy_file_sink *file = NULL;
            if (vy_file_sink_open(target, NULL, &file, NULL) != VY_OK) _exit(1);
            sample_write(&def, vy_file_sink_bytes(file), 100000000, NULL); // killed long before
            _exit(1);
        }
        struct stat grown = {0}; // now and then not before something is there, however slow the machine is
        for (int i = 0; round % 10 == 0 && i < 60000 && grown.st_size < 1000000; ++i) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            if (stat(part, &grown) != 0) grown.st_size = 0;
        }
        const struct timespec nap = {.tv_nsec = (long)(random_bits(&r) % 12000000)};
        nanosleep(&nap, NULL);
        kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_true(holds(target, "old"));
        vy_mcap_reader *reader = NULL;
        vy_error err;
        if (vy_mcap_reader_open(part, NULL, &reader, &err) != VY_OK) {
            struct stat about; // so early that not even the first write was done
            assert_true(stat(part, &about) != 0 || about.st_size == 0);
            continue;
        }
        assert_true(vy_mcap_reader_info(reader)->recovered);
        vy_status read;
        const int count = sample_prefix(reader, &read);
        assert_int_equal(read, VY_OK);
        max = count > max ? count : max;
        vy_mcap_reader_close(reader);
    }
    assert_true(max > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_file_stays_until_commit),
        cmocka_unit_test(open_errors),
        cmocka_unit_test(older_part_is_kept),
        cmocka_unit_test(second_writer_is_refused),
        cmocka_unit_test(one_process_writes_once),
        cmocka_unit_test(many_writers_at_once),
        cmocka_unit_test(short_and_interrupted_writes_change_nothing),
        cmocka_unit_test(full_disk_at_every_write),
        cmocka_unit_test(failing_end_keeps_the_old_file),
        cmocka_unit_test(full_device_and_closed_pipe),
        cmocka_unit_test(pipe_is_written_in_place),
        cmocka_unit_test(killed_at_any_moment),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
