/**
 * The metrics of the gateway, by name. Names follow OpenTelemetry's `gen_ai.*` conventions where one fits, else they begin with
 * `tollgate_`. Labels are bounded: models and providers come from the catalogue, all other labels from closed sets. docs/monitoring.md.
 */
import { counters, histograms, usdCounters } from "./series.ts";

const secondsBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/**
 * The bounds above, and some between them where people wait: within a bucket an alert only guesses. A metric may gain bounds, but a
 * bound must not change, because queries name it.
 */
const firstTokenBuckets = [
  0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 20, 30, 60, 120, 300,
];
/** Videos take minutes. */
const taskBuckets = [1, 5, 10, 30, 60, 120, 300, 600, 1_200, 3_600];
/** The bounds that the conventions name. */
const tokenBuckets = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];
const batchSecondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const entriesBuckets = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/** Calls and their attempts. */
const callFamilies = () => ({
  calls: counters({
    name: "tollgate_calls_total",
    help: "Calls that are answered at once, by how they ended.",
  }),
  duration: histograms(
    {
      name: "gen_ai_server_request_duration_seconds",
      help: "From the request to the end of its answer.",
    },
    secondsBuckets,
  ),
  firstToken: histograms(
    {
      name: "gen_ai_server_time_to_first_token_seconds",
      help: "From the request to the first byte of its answer.",
    },
    firstTokenBuckets,
  ),
  tokens: counters({
    name: "gen_ai_client_token_usage_total",
    help: "Tokens charged, by type (input, output).",
  }),
  callTokens: histograms(
    { name: "tollgate_call_tokens", help: "Tokens of one call, by type (input, output)." },
    tokenBuckets,
  ),
  errors: counters({
    name: "tollgate_call_errors_total",
    help: "Calls that failed, by error code, and by whose fault it is (caller: 4xx, gateway: 5xx).",
  }),
  attempts: counters({
    name: "tollgate_attempts_total",
    help: "Attempts of calls at providers, by how they ended: ok, or the code of the failure; fault caller: the request was refused.",
  }),
  attemptDuration: histograms(
    {
      name: "gen_ai_client_operation_duration_seconds",
      help: "From an attempt at a provider to the end of its answer.",
    },
    secondsBuckets,
  ),
  cost: usdCounters({
    name: "tollgate_cost_usd_total",
    help: "What calls and tasks cost, in USD.",
  }),
});

/** All metrics that are not about calls. */
const workFamilies = () => ({
  tasks: counters({ name: "tollgate_tasks_total", help: "Tasks that ended, by how." }),
  taskDuration: histograms(
    { name: "tollgate_task_duration_seconds", help: "From a task's submission to its end." },
    taskBuckets,
  ),
  callbacks: counters({
    name: "tollgate_callbacks_total",
    help: "Tries of callbacks: delivered, retried, or given_up.",
  }),
  callbackDuration: histograms(
    { name: "tollgate_callback_duration_seconds", help: "How long receivers took." },
    secondsBuckets,
  ),
  cache: counters({
    name: "tollgate_response_cache_total",
    help: "Calls of keys that have a response cache, by what became of them there: hit, miss, bypass.",
  }),
  hooks: counters({
    name: "tollgate_hook_questions_total",
    help: "Questions to the operator's hooks, by hook, place (before, after) and outcome: allowed, changed, refused, heard, failed, dropped.",
  }),
  hookDuration: histograms(
    { name: "tollgate_hook_duration_seconds", help: "How long the operator's hooks took." },
    batchSecondsBuckets,
  ),
  batches: counters({
    name: "tollgate_ledger_batches_total",
    help: "Batches of the ledger, by how they ended: ok, failed.",
  }),
  batchDuration: histograms(
    { name: "tollgate_ledger_batch_duration_seconds", help: "How long a batch was away." },
    batchSecondsBuckets,
  ),
  batchEntries: histograms(
    { name: "tollgate_ledger_batch_entries", help: "Calls that one batch settles." },
    entriesBuckets,
  ),
});

/** All families, empty. */
export const makeFamilies = () => ({ ...callFamilies(), ...workFamilies() });

export type Families = ReturnType<typeof makeFamilies>;
