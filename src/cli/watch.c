/*
 * watch.c - the thread of a running job that takes signals and shows progress
 */
#define _GNU_SOURCE /* sigabbrev_np */
#include "cli/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <glib.h>

#include "cli/notify.h"
#include "util/clock.h"
#include "util/text.h"

#define TICK_MS 1000

static const int taken[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

static void
taken_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
        sigaddset(set, taken[i]);
}

void
pawl__watch_block(void)
{
    sigset_t set;

    taken_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* -------------------------------------------------------------------------------------------------------- reports -- */

static void
say_range(void *user, const pawl_range_report *report)
{
    char age[PAWL__DURATION_TEXT_SIZE] = "not opened", in_hook[64] = "", duration[PAWL__DURATION_TEXT_SIZE];

    if (report->age_ms >= 0)
        pawl__text_about_duration(report->age_ms, age);
    if (report->hook != NULL)
        g_snprintf(in_hook, sizeof in_hook, " (in %s for %s)", report->hook,
                   pawl__text_about_duration(report->hook_ms, duration));
    pawl__sink_say(user, PAWL_LOG_INFO, "report",
                   "%s [%" PRId32 "] %" PRId64 "..%" PRId64 ", attempt %d: %s%s, at offset %" PRId64 ", age %s",
                   report->partition.topic, report->partition.number, report->from, report->until, report->attempt,
                   pawl_phase_name(report->phase), in_hook, report->offset, age);
}

static void
report(pawl_watch *watch)
{
    if (pawl_job_report(watch->job, say_range, watch->sink) == 0)
        pawl__sink_say(watch->sink, PAWL_LOG_INFO, "report", "no range is in hand");
}

/* -------------------------------------------------------------------------------------------------------- stopping -- */

static void
stop(pawl_watch *watch, int number)
{
    char timeout[PAWL__DURATION_TEXT_SIZE];

    watch->stops++;
    pawl_job_stop(watch->job);
    if (watch->stops > 1) {
        pawl__sink_say(watch->sink, PAWL_LOG_WARN, "run", "SIG%s again: leaving the batch unsaved",
                       sigabbrev_np(number));
        watch->abort_ms = 0;
        return;
    }
    pawl__notify("STOPPING=1\nSTATUS=finishing and saving the batch in hand");
    pawl__sink_say(watch->sink, PAWL_LOG_INFO, "run", "SIG%s: finishing and saving the batch in hand, for at most %s",
                   sigabbrev_np(number), pawl__text_from_duration(watch->shutdown_timeout_ms, timeout));
    watch->abort_ms = pawl__clock_ms() + watch->shutdown_timeout_ms;
}

static void
take_signal(pawl_watch *watch)
{
    struct signalfd_siginfo info;

    if (read(watch->signal_fd, &info, sizeof info) != sizeof info)
        return;
    if (info.ssi_signo == SIGUSR1)
        report(watch);
    else
        stop(watch, (int) info.ssi_signo);
}

/* --------------------------------------------------------------------------------------------------------- thread -- */

static int
wait_ms(const pawl_watch *watch, int64_t now)
{
    int64_t wait = watch->progress != NULL ? TICK_MS : INT32_MAX;

    if (watch->abort_ms != INT64_MAX)
        wait = MIN(wait, watch->abort_ms - now);
    return (int) MAX(wait, 0);
}

static void
show_progress(pawl_watch *watch, int64_t now)
{
    char text[PAWL_PROGRESS_TEXT_SIZE], state[PAWL_PROGRESS_TEXT_SIZE + 16];

    pawl__progress_text(watch->progress, watch->job, now, text);
    if (watch->on_terminal)
        pawl__sink_progress(watch->sink, text);
    /* A standby is ready before it has opened anything. */
    g_snprintf(state, sizeof state, "%sSTATUS=%s", watch->progress->standby ? "READY=1\n" : "", text);
    if (watch->stops == 0)
        pawl__notify(state);
}

static void *
watch_main(void *data)
{
    pawl_watch *watch = data;
    struct pollfd items[] = {{.fd = watch->quit_fd, .events = POLLIN}, {.fd = watch->signal_fd, .events = POLLIN}};

    while (items[0].revents == 0) {
        int64_t now = pawl__clock_ms();
        int count = poll(items, G_N_ELEMENTS(items), wait_ms(watch, now));

        if (count < 0)
            items[0].revents = items[1].revents = 0;
        if (count > 0 && items[1].revents != 0)
            take_signal(watch);
        now = pawl__clock_ms();
        if (now >= watch->abort_ms) {
            if (watch->exec != NULL)
                pawl__exec_abort(watch->exec);
            watch->abort_ms = INT64_MAX;
        }
        if (count == 0 && watch->progress != NULL)
            show_progress(watch, now);
    }
    return NULL;
}

pawl_status
pawl__watch_start(pawl_watch *watch, pawl_error *err)
{
    sigset_t set;
    int code;

    taken_set(&set);
    watch->stops = 0;
    watch->abort_ms = INT64_MAX;
    watch->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    watch->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch->signal_fd < 0 || watch->quit_fd < 0)
        return pawl_error_set(err, PAWL_FAILED, 0, errno, "cannot watch for signals: %s", g_strerror(errno));
    code = pthread_create(&watch->thread, NULL, watch_main, watch);
    if (code != 0)
        return pawl_error_set(err, PAWL_FAILED, 0, code, "cannot start a thread: %s", g_strerror(code));
    return PAWL_OK;
}

void
pawl__watch_stop(pawl_watch *watch)
{
    uint64_t one = 1;

    while (write(watch->quit_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(watch->thread, NULL);
    close(watch->signal_fd);
    close(watch->quit_fd);
    pawl__sink_progress(watch->sink, NULL);
}
