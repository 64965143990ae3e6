// SPDX-License-Identifier: LGPL-2.1-or-later
// fuzz-pipelines [--pipelines N] [--seconds N] [--seed N] [--patience N]
// Tests random pipelines of our elements with random operations. The seed is the number of the
// first pipeline, and each pipeline depends only on its number: "--seed 4711 --pipelines 1" repeats
// pipeline
// 4711. The default seed is taken from the clock.
#include <cstdio>

#include "../quarks.h"
#include "run.h"

namespace {

struct Budget {
  gint64 pipelines = 0, seconds = 0, seed = -1, patience = 120;
};

bool parse(int *argc, char ***argv, Budget &budget) {
  const GOptionEntry entries[] = {
      {"pipelines", 0, 0, G_OPTION_ARG_INT64, &budget.pipelines, "Number of pipelines", "N"},
      {"seconds", 0, 0, G_OPTION_ARG_INT64, &budget.seconds,
       "Time in which pipelines are started, in seconds", "N"},
      {"seed", 0, 0, G_OPTION_ARG_INT64, &budget.seed, "Number of the first pipeline", "N"},
      {"patience", 0, 0, G_OPTION_ARG_INT64, &budget.patience,
       "Time after which a pipeline counts as hanging, in seconds (120)", "N"},
      {}};
  GOptionContext *context = g_option_context_new(nullptr);
  g_option_context_add_main_entries(context, entries, nullptr);
  cudatensor::grow_quarks();
  g_option_context_add_group(context, gst_init_get_option_group());
  GError *error = nullptr;
  const bool parsed = g_option_context_parse(context, argc, argv, &error);
  g_option_context_free(context);
  if (!parsed) fprintf(stderr, "%s\n", error->message);
  g_clear_error(&error);
  return parsed;
}

void run_pipeline(fuzz::Run &run) {
  const long kind = run.random.between(1, 10);
  if (kind <= 6) return fuzz::run_filters(run);
  if (kind <= 8) return fuzz::run_mux(run);
  fuzz::run_playing(run);
}

}  // namespace

int main(int argc, char **argv) {
  Budget budget;
  if (!parse(&argc, &argv, budget)) return 2;
  if (budget.pipelines == 0 && budget.seconds == 0) budget.pipelines = 1000;
  if (budget.seed < 0) budget.seed = g_get_real_time() / 1000;
  printf("seed %" G_GINT64_FORMAT "\n", budget.seed);
  fflush(stdout);

  const gint64 end = g_get_monotonic_time() + budget.seconds * G_USEC_PER_SEC;
  gint64 count = 0;
  int findings = 0;
  for (; budget.pipelines == 0 || count < budget.pipelines; ++count) {
    if (budget.seconds != 0 && g_get_monotonic_time() >= end) break;
    fuzz::watch(static_cast<int>(budget.patience));
    fuzz::Run run(static_cast<guint64>(budget.seed + count));
    run_pipeline(run);
    findings += run.findings();
    if ((count + 1) % 500 == 0) {
      printf("%" G_GINT64_FORMAT " pipelines\n", count + 1);
      fflush(stdout);
    }
  }
  fuzz::stop_watching();
  const fuzz::Totals &all = fuzz::totals();
  printf("%" G_GINT64_FORMAT
         " pipelines: %ld frames, %ld outputs, %ld compared, %ld errors, "
         "%ld refusals, %ld restarts, %d findings\n",
         count, all.frames.load(), all.outputs.load(), all.compared.load(), all.errors.load(),
         all.refusals.load(), all.restarts.load(), findings);
  fflush(stdout);  // before a sanitizer's report
  return findings == 0 ? 0 : 1;
}
