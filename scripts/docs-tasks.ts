/** Generates docs/tasks.md: the life of a task, from the table of states, the points of a task's life and the renderings in src/tasks. */
import { mediaFamilies } from "../src/catalog/index.ts";
import { families } from "../src/media/index.ts";
import { taskStates, type TaskStatus } from "../src/tasks/states.ts";
import { defaultTiming, type TaskPoint } from "../src/tasks/engine.ts";
import { absentMs } from "../src/tasks/dead-owners.ts";
import { otherGatewaysFirstMs } from "../src/tasks/lease.ts";
import { fetchesMax } from "../src/tasks/fetching.ts";
import { atOnceMax } from "../src/tasks/poll-rate-limiter.ts";
import { keyLifetimeMs } from "../src/tasks/idempotency.ts";
import { renderArk, renderDashscope, renderNative } from "../src/tasks/index.ts";
import type { Task } from "../src/tasks/types.ts";

const code = (text: string) => `\`${text}\``;
const hourMs = 3_600_000;
const states = Object.keys(taskStates) as TaskStatus[];

const introduction = `# Tasks

<!-- Generated from src/tasks by \`npm run docs\`; test/tasks/docs.test.ts runs the commands as they stand. -->

Videos, and images of the task models, take seconds to minutes. Such a call is a task. The gateway answers at once with an
id, and the work goes on even if the connection breaks or the gateway stops. The caller polls, waits, or gets a callback.
[Media](media.md) lists the fields, and [ledger](ledger.md) explains the cost.

\`\`\`mermaid
sequenceDiagram
  participant C as caller
  participant G as gateway
  participant D as database
  participant V as vendor
  C->>G: POST /v1/tasks
  G->>D: key, hold and task, in one transaction
  G-->>C: the task, queued
  G->>D: the intent to submit
  G->>V: submit the job
  V-->>G: the job's id
  G->>D: running, with that id
  loop until the vendor reports the end
    G->>V: poll the job
    V-->>G: still running
  end
  V-->>G: done, with the vendor's address of the file
  G->>V: fetch the file, streamed
  G->>G: store the file
  G->>D: succeeded, charge, callback, in one transaction
  G-->>C: callback to webhook_url; answer to a waiting caller
  C->>G: GET /v1/tasks/{id}
  G-->>C: the task, with the gateway's address of the file
\`\`\`

## Try it

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/video-model-v1", "prompt": "A boat on a lake", "duration": 2}'
\`\`\`

The answer is 200 (202 for image tasks) with the task. Put its id in \`$TASK\`, and read the task until \`status\` is one of the last four
below. Every 15 seconds is often enough for videos, and every 3 for images. \`Retry-After\` says so:

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks/$TASK -H "Authorization: Bearer $KEY"
\`\`\`

**Wait in the request** instead of polling. \`Prefer: wait=60\` holds the answer until the task has ended, for at most that many seconds,
at most 60. When the wait runs out, or the gateway stops, the answer is the task in its current state. A caller who disconnects cancels
nothing. If the database fails meanwhile, the gateway asks it again, and answers with the last state that it saw.

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "Prefer: wait=60" \\
  -d '{"model": "sandbox/task-image-model-1", "prompt": "A boat on a lake"}'
\`\`\`

**Use a callback** instead: put \`"webhook_url": "https://..."\` in the body. The gateway posts to that address when the task has ended
([callbacks](callbacks.md)).

**List** tasks, newest first. \`status\`, \`model\` (by any of its names), \`limit\` (1 to 100) and \`after\` (an id) filter the list:

\`\`\`sh
curl "http://127.0.0.1:8080/v1/tasks?status=succeeded&limit=5" -H "Authorization: Bearer $KEY"
\`\`\`

Send images to image tasks as files (\`multipart/form-data\`, \`image\` or \`image[]\`), and to video tasks as addresses
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
follows the output: a video of 6 seconds costs 6, even if 8 were requested. \`cost\` is the charge. Reading
a task is free. `;
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

Each path reads the same task by the same id, so that a vendor's own client can wait for it ([clients](clients.md)).
Videos are on all four paths; image tasks are not on \`/v1/videos\` and \`/api/v3\`.

| \`/v1/tasks/{id}\` | \`/v1/videos/{id}\` | \`/api/v1/tasks/{id}\` | \`/api/v3/contents/generations/tasks/{id}\` |
| --- | --- | --- | --- |
${rows.join("\n")}

\`POST /v1/videos/generations\` and \`POST /api/v3/contents/generations/tasks\` create tasks in their vendors' formats, too. All
reads answer 200 in every state. A task of another workspace gets the same answer as one that does not exist.
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

| family | expires after | the call may set |
| --- | --- | --- |
${rows.join("\n")}

A task that has not ended by then is \`expired\` and costs nothing, even if its vendor still works on it. A task also expires if its
vendor no longer knows it: after ${defaultTiming.missesMin} polls in a row and ${defaultTiming.missingMs / 60_000} minutes.

**Polls**

- A failed poll says nothing about the job, and does not end the task. The exception is a refusal that is about the job itself. If
  moderation withholds the result, the task ends at once; xAI reports that with 4xx. Otherwise it ends after the same number of polls
  and the same time. An error with status 200 and without a state counts as a refusal too.
- If a refused poll has a \`Retry-After\`, the next poll is that much later, by at most two minutes.
- A 429 slows down the polls of all tasks of that credential. They pause for a second or more, continue at half the rate, and speed up
  again slowly. Tasks of other credentials are not affected.
- If the credential of a running task is no longer configured, or has another value, the gateway polls with another credential of the
  provider. A credential that may not see the job does not end the task. The same holds if the provider has another \`base_url\`.

**Files**

- If a task's uploads cannot be read for the moment, it waits. If one is gone, the task fails with \`upload_unavailable\`.
- If a result cannot be fetched, the gateway tries again for ${defaultTiming.downloadMs / 60_000} minutes, and at least ${defaultTiming.missesMin} times, each time from the address that
  the vendor gives then. This includes 403 and 404, because a CDN may not have the file yet, or a signed address may have expired. It
  also includes a page (HTML, JSON, text) in place of the file, and a picture that is cut off in its header. Any other file that is no
  picture, or no video of a known type, fails the task, unbilled.
- A synchronous image call waits up to 5 minutes for a picture that its vendor gives by address, and 30 seconds while the address answers
  403 or 404.
- The task itself stays readable. Its files are kept for seven days (\`storage.retention_days\`).

**Storage failures**

- While the gateway's storage is unavailable, a result stays at its vendor. The gateway fetches it again, with growing pauses, until the
  deadline.
- Some vendors of images answer with the result and do not store it. The gateway keeps such a result in memory and tries to store it for
  ${defaultTiming.downloadMs / 60_000} minutes. Then the task fails with \`artifact_unavailable\`, unbilled. If the gateway is stopped meanwhile, it tries once more. After a
  crash the task is \`submission_uncertain\`.
- While a result is tried again, the last of the task's \`attempts\` says \`not_stored\` or \`not_fetched\`, and \`tries\` counts the
  attempts.

## When no vendor accepts it

The gateway submits a task to its providers in order, in three rounds within three seconds. Then the task fails with the last error.
Its \`notes\` name the parameters that the last provider does not support. To retry for longer, set \`limits.task_retry_s\` to a number of
seconds from the submission, at most six hours:

\`\`\`yaml
limits:
  task_retry_s: 600
\`\`\`

- The pauses grow from 4 seconds to 5 minutes: a quarter of the time waited. \`Retry-After\` is respected, up to two minutes.
- A provider that was failing at the submission comes last, and is skipped in the first round.
- Meanwhile the task is \`queued\`, keeps its hold and its place in the queue, and can be canceled. After a refusal by a vendor of images
  it is \`running\`, because that vendor works during the request.
- The gateway retries only if it is certain that no job began: after refusals such as 429, 500 and 503, refused credentials, and
  connections that could not be opened. A 502 or 504 may hide a job that began.
- A request that the vendor finds invalid fails at once.

At most 1000 tasks and image calls may be in flight, and 100 per workspace (\`limits.queue\`). Above that the answer is
503 \`queue_full\` with \`Retry-After\`.
`;
}

const idempotency = `## Retrying a submission

If the answer to a submission is lost, repeat it with the same \`Idempotency-Key\` (1 to 255 printable characters, such as a
UUID). The key makes one task, one hold and one job at one vendor, however often you send it, and to whichever gateway:

| second request | answer |
| --- | --- |
| with the same body, after the first | 200, the task as it is now, \`Idempotent-Replayed: true\` |
| while the first is being accepted | 409 \`idempotency_in_progress\`, \`Retry-After: 1\` |
| with another body, or at another path | 422 \`idempotency_key_reuse\` |
| after the first was refused (400, 402, 503, ...) | treated as the first |

\`\`\`sh
curl http://127.0.0.1:8080/v1/tasks \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "Idempotency-Key: order-17" \\
  -d '{"model": "sandbox/video-model-v1", "prompt": "A boat on a lake", "duration": 2}'
\`\`\`

Keys belong to a workspace, and are valid for ${keyLifetimeMs / hourMs} hours. The order of members in a JSON body does not
matter. Files are compared by content. If a caller left an image stream after it had begun to cost, its key answers 404: the delivered
part was charged and is not stored.

## Canceling

\`\`\`sh
curl -X POST http://127.0.0.1:8080/v1/tasks/$TASK/cancel -H "Authorization: Bearer $KEY"
\`\`\`

A queued task is canceled at once. A running one is canceled only if its vendor confirms it, or then reports the job as canceled.
Otherwise the answer is 409 \`task_not_cancelable\` and the task goes on. The answer is the same while a vendor request is in flight.
xAI cannot cancel. Ark and DashScope can while the job waits. A vendor's success status with an error, another state, another job or a
page does not count as a confirmation. A canceled task costs nothing, and a result that arrives later changes nothing.
You can also send \`DELETE /v1/tasks/{id}\`, or use each vendor's own way on its own path. `;

const afterCrash: Readonly<Record<TaskPoint, string>> = {
  "submit.begin": "Nothing was stored. Send it again.",
  "submit.accepted": "The transaction is rolled back: nothing was stored. Send it again.",
  "submit.committed": "The task exists and starts. Sending it again with the same key finds it.",
  "ask.claimed": "The job is submitted.",
  "ask.intended":
    "The job may have been submitted, and is not submitted again. `failed`, `submission_uncertain`, unbilled.",
  "ask.answered":
    "A vendor may have the job, under an unknown id. It is not submitted again. `failed`, `submission_uncertain`, unbilled.",
  "ask.noted": "The job is polled by the id that was recorded.",
  "poll.begin": "The job is polled again.",
  "poll.answered": "The job is polled again.",
  "collect.begin": "The job is polled again, and the result is fetched.",
  "collect.stored": "The same. The files that were stored before are deleted.",
  "end.begin": "The same.",
  "end.written": "The transaction is rolled back: the same.",
  "end.committed": "The task has ended and was charged. Its callback is sent.",
  "callback.claimed":
    "Its callback is sent: at once if the process is known to be dead, else when its lease expires.",
  "callback.sent": "Its callback is sent again, with the same event id.",
  "callback.noted": "Nothing is left to do.",
};

function crashSection(): string {
  const rows = Object.entries(afterCrash).map(([point, text]) => `| ${code(point)} | ${text} |`);
  return `## After a crash

A task is a row with its next step and the time of that step. Any number of gateways on one database execute steps. A gateway
holds a lease on the task during a step. Another gateway takes the task over when the lease expires, after
${defaultTiming.leaseMs / 1000} seconds, and sooner if the first one is gone:

- If its process is dead, and another one on the same machine sees that (Linux): at once.
- If its connection to the database has been gone for ${absentMs / 1000} seconds: all steps except submissions. With the
  embedded database, all steps.

Before a gateway submits a job to a vendor, it records the intent. So it recognises an unknown
outcome, and never submits one task twice. Leases, deadlines and the times of callbacks
use the database's clock, so a gateway with a wrong clock takes nothing over too early. If a gateway
does not know the provider of a step, it first leaves the step to the others for ${otherGatewaysFirstMs / 1000} seconds.

If a gateway is suspended, or cut off from the database, and comes back:

- It checks its lease again before the request leaves: at the connection and at each piece of an upload. Without a
  lease it sends nothing, and the job is submitted again later.
- Once the request may have left, only this gateway can get the answer. Unless the others know that it is dead, they wait
  ${(defaultTiming.leaseMs + defaultTiming.abandonMs) / 60_000} minutes before they end the task as \`submission_uncertain\`. Time without the database does not count. Until then a
  cancellation is refused.
- It records the vendor's answer when the database is back, for up to an hour.
- If the task was ended before that, the gateway tells the vendor to cancel the job. An error in the log names the job. A result in the
  answer is not stored.

A vendor may wrongly answer a submission with the job of another task that still runs with the same credential. The job stays with that
other task. The new task fails with \`submission_uncertain\` and costs nothing, and the gateway does not cancel the job. An error in the log
names the tasks and the job, and says whether they belong to different workspaces. Gateways record the owner of a job one at a time, so two
running tasks never share one. When a task has ended, a vendor may reuse its job's id.

The steps of one workspace use at most half of a gateway's slots, so thousands of its tasks do not delay the tasks of others.
At most ${atOnceMax} polls of one credential run at once, half of them for one workspace. So a vendor that does not answer delays no other.
A process fetches at most ${fetchesMax} results at a time, half of them for one workspace.

A test runs random histories of two gateways against an oracle (\`test/tasks/model\`). Processes die, hang and miss answers, vendors answer
wrongly, storage fails, callers cancel. In the end every task must have ended once, and its money, callback, files and log row must match
its vendor's job.

Another test stops a real process with \`kill -9\` at each of these points, on both kinds of database (\`test/faults/task-kill.test.ts\`):

| killed at | result |
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
