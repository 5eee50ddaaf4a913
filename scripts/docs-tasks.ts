/** Generates docs/tasks.md: the life of a task, from the table of states, the points of a task's life and the renderings in src/tasks. */
import { mediaFamilies } from "../src/catalog/index.ts";
import { families } from "../src/media/index.ts";
import { taskStates, type TaskStatus } from "../src/tasks/states.ts";
import { defaultTiming, type TaskPoint } from "../src/tasks/engine.ts";
import { absentMs } from "../src/tasks/gone.ts";
import { fetchesMax } from "../src/tasks/fetching.ts";
import { atOnceMax } from "../src/tasks/poll-pace.ts";
import { keyLifetimeMs } from "../src/tasks/idempotency.ts";
import { renderArk, renderDashscope, renderNative } from "../src/tasks/index.ts";
import type { Task } from "../src/tasks/types.ts";

const code = (text: string) => `\`${text}\``;
const hourMs = 3_600_000;
const states = Object.keys(taskStates) as TaskStatus[];

const introduction = `# Tasks

<!-- Generated from src/tasks by \`npm run docs\`; test/tasks/docs.test.ts runs the commands as they stand. -->

Videos, and images of the task models, take seconds to minutes. Such a call is a task. It is answered at once with an
id, and the work goes on whatever happens to the connection or the gateway. The caller polls, waits or is called back.
What a call may say: [media](media.md). What it costs: [ledger](ledger.md).

\`\`\`mermaid
sequenceDiagram
  participant C as caller
  participant G as gateway
  participant D as database
  participant V as vendor
  C->>G: POST /v1/tasks
  G->>D: key, hold and task, in one transaction
  G-->>C: the task, queued
  G->>D: the intent to ask
  G->>V: the job
  V-->>G: its id of the job
  G->>D: running, with that id
  loop until the vendor reports the end
    G->>V: how does it stand?
    V-->>G: at work
  end
  V-->>G: done, at an address of the vendor
  G->>V: the file, streamed
  G->>G: into the file store
  G->>D: succeeded, charge, callback, in one transaction
  G-->>C: webhook_url, and whoever waits
  C->>G: GET /v1/tasks/{id}
  G-->>C: the task, with the address of the file here
\`\`\`

## Try it

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/video-model-v1", "prompt": "A boat on a lake", "duration": 2}'
\`\`\`

answers 200 (image tasks 202) with the task. With its id in \`$TASK\`, read it until \`status\` is one of the last four
below. Every 15 seconds for videos and every 3 for images is often enough, and \`Retry-After\` says so:

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks/$TASK -H "Authorization: Bearer $KEY"
\`\`\`

**Wait in place** instead of polling: \`Prefer: wait=60\` holds the answer until the task has ended, at most so many seconds, at
most 60. A wait that runs out answers with the task as it is, and so does one at a gateway that stops. A caller who leaves cancels nothing. A database that
fails meanwhile is asked again; the answer is the task as it was last seen.

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "Prefer: wait=60" \\
  -d '{"model": "sandbox/task-image-model-1", "prompt": "A boat on a lake"}'
\`\`\`

**Be called back** instead of either: \`"webhook_url": "https://..."\` in the body is posted to once the task has ended
([callbacks](callbacks.md)).

**List** what there is, newest first; \`status\`, \`model\` (by any of its names), \`limit\` (1 to 100) and \`after\` (an id) narrow it:

\`\`\`sh
curl "http://127.0.0.1:8080/v1/tasks?status=succeeded&limit=5" -H "Authorization: Bearer $KEY"
\`\`\`

Pictures are sent to image tasks as files (\`multipart/form-data\`, \`image\` or \`image[]\`), to video tasks as addresses
(\`"image": {"url": "https://..."}\`, or a data URL).
`;

function stateSection(): string {
  const edges = states.flatMap((from) => taskStates[from].next.map((to) => `  ${from} --> ${to}`));
  const rows = states.map((status) => {
    const { meaning, ledger, leftBy } = taskStates[status];
    return `| ${code(status)} | ${meaning} | ${ledger} | ${leftBy} |`;
  });
  return `## States

\`\`\`mermaid
stateDiagram-v2
  [*] --> queued
${edges.join("\n")}
\`\`\`

| \`status\` | | money | left by |
| --- | --- | --- | --- |
${rows.join("\n")}

The last four never change. A task is charged in the transaction in which it succeeds, and in no other state. The charge
follows what was produced: a video of 6 seconds where 8 were asked for costs 6. \`cost\` is what was charged. Reading
bills nothing. `;
}

/** A task with the fields that the shapes read. */
function taskIn(status: TaskStatus): Task {
  const time = new Date(0);
  const task: Partial<Task> = {
    id: "task_1",
    kind: "video",
    family: "video-v1",
    status,
    usage: null,
    error: null,
    artifacts: [{ name: "a.mp4", mediaType: "video/mp4", bytes: 1 }],
    notes: [],
    createdAt: time,
    updatedAt: time,
    request: { kind: "video", durationSeconds: 8 } as Task["request"],
  };
  return task as Task;
}

function shapeSection(): string {
  const url = (name: string) => name;
  const rows = states.map((status) => {
    const task = taskIn(status);
    const words = [
      renderNative(task, url).status,
      renderDashscope(task, url, "r").output.task_status,
      renderArk(task, url).status,
    ];
    return `| ${[status, ...words].map(code).join(" | ")} |`;
  });
  return `## One task, four shapes

The same id reads the same task on each path, so that a vendor's own client can wait for it ([clients](clients.md)).
Videos are on all four; image tasks are not on \`/v1/videos\` and \`/api/v3\`.

| \`/v1/tasks/{id}\` | \`/v1/videos/{id}\` | \`/api/v1/tasks/{id}\` | \`/api/v3/contents/generations/tasks/{id}\` |
| --- | --- | --- | --- |
${rows.join("\n")}

\`POST /v1/videos/generations\` and \`POST /api/v3/contents/generations/tasks\` create tasks in their vendors' words, too. All
reads answer 200 in every state; a task of another workspace is answered like one that does not exist.
`;
}

function deadlineSection(): string {
  const inTasks = (endpoints: readonly string[]) =>
    endpoints.includes("tasks") || endpoints.includes("videos_generations");
  const rows = Object.values(families)
    .filter(({ name }) => inTasks(mediaFamilies[name].endpoints))
    .map(({ name, expirySeconds, fields }) => {
      const own = fields.expiresAfterSeconds;
      const range = own?.domain.type === "integer" ? own.domain : undefined;
      const said = own && range ? `${code(own.name)}, ${range.min} to ${range.max} seconds` : "";
      return `| ${code(name)} | ${expirySeconds / 3600} hours | ${said} |`;
    });
  return `## Deadlines

| family | expires after | unless the call says |
| --- | --- | --- |
${rows.join("\n")}

A task that has not ended by then is \`expired\` and costs nothing, whatever its vendor still makes. So is one whose vendor
does not know it any more: after ${defaultTiming.missesMin} polls in a row and ${defaultTiming.missingMs / 60_000} minutes in which it did not. A poll that fails is no
answer, and ends nothing, with one exception. A refusal that is about the job itself ends it: at once where moderation withholds the result (xAI
tells so, with 4xx), otherwise after as many polls and as long. An error that comes with 200, without a state, is a refusal too. Where a poll is refused with \`Retry-After\`, the next one comes that much later, by at most two minutes. A 429 slows down the polls of all tasks of that key. They rest a second or more, go on at half the rate, and the rate grows again slowly. Tasks of other keys go on as ever. A task whose uploads
cannot be read just now waits. If one is gone, the task fails with \`upload_unavailable\`. A running task whose key is not configured any more is asked about with another key of its provider. The same holds where its key has another value by now. A key that may not see the job ends nothing. A result that cannot be fetched now is fetched again for ${defaultTiming.downloadMs / 60_000} minutes, and at least ${defaultTiming.missesMin} times, from the address that its vendor then tells. 403 and 404 count among that: a CDN may not have it yet, or a signed address has expired. So does a page (HTML, JSON, text) in place of the file: its server is in trouble. The task itself stays readable; its files are kept for seven days (\`storage.retention_days\`).

While our own storage takes nothing, a result waits at its vendor, and is fetched again ever less often until the deadline. A vendor of
pictures that answers with the result does not keep it. The gateway holds such a result in memory and tries for
${defaultTiming.downloadMs / 60_000} minutes to store it. Then the task fails with \`artifact_unavailable\`, unbilled. A gateway that is stopped
meanwhile tries once more. After a crash the task is \`submission_uncertain\`. The last of its \`attempts\`
says \`not_stored\` or \`not_fetched\` while a result is tried again, and \`tries\` how often it was.

## When no vendor takes it

A task is offered to its providers in order. All are asked three times within three seconds, and then it fails with the last error.
Its \`notes\` tell what is lost at the provider that was asked last.
\`limits.task_retry_s\` keeps it instead, for as many seconds from its submission, at most six hours:

\`\`\`yaml
limits:
  task_retry_s: 600
\`\`\`

The pauses grow from 4 seconds to 5 minutes, a quarter of the time waited. A \`Retry-After\` is kept, at most two minutes.
A provider that was in trouble at the submission comes last, and is passed over in the first round.
Meanwhile the task is \`queued\`, holds its amount and a place in the queue, and can be canceled. One that a vendor of pictures has refused says \`running\`, because that vendor works while it is asked. Only what certainly began nothing is
asked for again: refusals such as 429, 500 and 503, refused keys, and connections that could not be opened. A 502 or 504 may hide a job that began. A
request that the vendor finds wrong fails at once.

At most 1000 tasks and image calls may be in flight, and 100 of one workspace (\`limits.queue\`); above that the answer is
503 \`queue_full\` with \`Retry-After\`.
`;
}

const idempotency = `## Sending it again

A submission whose answer was lost should be repeated with the same \`Idempotency-Key\` (1 to 255 printable characters; a
UUID will do). It makes one task, one hold and one job at one vendor, however often and to whichever gateway it is sent:

| the second request | is answered |
| --- | --- |
| with the same body, after the first | 200, the task as it is now, \`Idempotent-Replayed: true\` |
| while the first is being accepted | 409 \`idempotency_in_progress\`, \`Retry-After: 1\` |
| with another body, or at another path | 422 \`idempotency_key_reuse\` |
| after the first was refused (400, 402, 503, ...) | as if it were the first |

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "Idempotency-Key: order-17" \\
  -d '{"model": "sandbox/video-model-v1", "prompt": "A boat on a lake", "duration": 2}'
\`\`\`

Keys are those of a workspace, and stand for their task for ${keyLifetimeMs / hourMs} hours. The order of members in a JSON body does not
matter; files count by their content. A key whose image stream was left after it had begun to cost answers 404: what arrived
was charged, and nothing of it is kept.

## Canceling

\`\`\`sh
curl -X POST http://127.0.0.1:8080/v1/tasks/$TASK/cancel -H "Authorization: Bearer $KEY"
\`\`\`

A queued task is canceled at once. A running one is canceled only if its vendor confirms it; otherwise the answer is 409
\`task_not_cancelable\` and the task goes on. The same holds while a vendor request is in flight. xAI cannot cancel, Ark
and DashScope can while the job waits. A success of the vendor that tells an error, another state or another job confirms
nothing, nor does a page. A canceled task costs nothing, and a result that comes too late changes nothing.
Also \`DELETE /v1/tasks/{id}\`, and each vendor's own way on its own path. `;

const afterCrash: Readonly<Record<TaskPoint, string>> = {
  "submit.begin": "Nothing was kept. Send it again.",
  "submit.accepted": "The transaction is rolled back: nothing was kept. Send it again.",
  "submit.committed": "The task is there, and starts. With the same key, sending again finds it.",
  "ask.claimed": "It is asked for.",
  "ask.intended":
    "It may have been asked for: not again. `failed`, `submission_uncertain`, unbilled.",
  "ask.answered":
    "A vendor may have it, under an id nobody knows: not again. `failed`, `submission_uncertain`, unbilled.",
  "ask.noted": "The vendor is asked how it stands, under the id that was noted.",
  "poll.begin": "The vendor is asked again.",
  "poll.answered": "The vendor is asked again.",
  "collect.begin": "The vendor is asked again, and the result fetched.",
  "collect.stored": "The same; what was stored before is swept away.",
  "end.begin": "The same.",
  "end.written": "The transaction is rolled back: the same.",
  "end.committed": "It has ended and was charged. Its callback is sent.",
  "callback.claimed":
    "Its callback is sent: at once where the process is known to be dead, else once its claim runs out.",
  "callback.sent": "Its callback is sent again, with the same event id.",
  "callback.noted": "Nothing is left to do.",
};

function crashSection(): string {
  const rows = Object.entries(afterCrash).map(([point, text]) => `| ${code(point)} | ${text} |`);
  return `## What a crash does

A task is a row that says what its next step is and when. Any number of gateways on one database take such steps; each
holds a task with a lease while it does. Another takes the task over when the lease runs out, after
${defaultTiming.leaseMs / 1000} seconds, and sooner where the gateway is gone:

- Its process is dead, and another one on the same machine sees that (Linux): at once.
- Its connection to the database has been away for ${absentMs / 1000} seconds: what asks no vendor to begin is taken over then. With the
  embedded database everything is.

Before a vendor is asked to begin, the intent is written down. So an unknown
outcome is known to be unknown, and no vendor is asked twice for one task. Leases, deadlines and the times of callbacks
are those of the database's clock: a gateway whose own clock is wrong takes nothing over too early.

A gateway that is stopped, or cut off from the database, and comes back:

- Before the request leaves, it checks its lease once more, at the connection and at each piece of an upload. Without a
  lease nothing is sent, and the task is asked for again.
- Once the request may have left, only this gateway can learn the answer. Others wait ${(defaultTiming.leaseMs + defaultTiming.abandonMs) / 60_000} minutes before they give the task
  up, unless they know that it is dead, as \`submission_uncertain\`. Time in which the database is away does not count. Until then a cancellation is refused.
- The vendor's answer is written once the database is back, for up to an hour.
- If the task was given up before, the vendor is told to cancel the job. An error in the log names that job. A result that it
  answered with is not kept.

A vendor may give a new task the job of another one that still runs, with the same key. The job stays that other task's. The new task
fails with \`submission_uncertain\` and costs nothing; the vendor is not told to cancel. An error in the log names the tasks, the job, and
whether they are of different workspaces. Gateways take turns to write whose job it is, so no two tasks that run have one. Of a task that has
ended, a vendor may use the id again.

The steps of one workspace take at most half of the places of a gateway. Its thousands do not delay the tasks of others.
Of the polls of one key at most ${atOnceMax} are under way at once, half of them of one workspace: a vendor that does not answer delays no other.
A process fetches at most ${fetchesMax} results at a time, half of them of one workspace.

Random histories of two gateways run beside an oracle (\`test/tasks/model\`): processes die, fall silent and miss answers, vendors lie, storage fails, callers cancel.
Each ends with every task ended once, and its money, callback, files and log row as its vendor's job has it.

A test stops a real process with \`kill -9\` at each of these points, on both kinds of database (\`test/faults/task-kill.test.ts\`):

| killed at | and then |
| --- | --- |
${rows.join("\n")}
`;
}

/** The whole page. */
export const tasksPage = (): string =>
  [
    introduction,
    stateSection(),
    shapeSection(),
    deadlineSection(),
    idempotency,
    crashSection(),
  ].join("\n");
