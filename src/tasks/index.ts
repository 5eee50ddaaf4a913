/** Tasks: image and video work that outlives its request. docs/tasks.md. */
export { taskPoints, type TaskPoint, type TaskTiming } from "./engine.ts";
export { answerKey, claimKeyForCall, findAnswered, keyLifetimeMs } from "./idempotency.ts";
export { createTasks, openUpload, type TasksOptions } from "./tasks.ts";
export { insertFinished, type Finished } from "./finished.ts";
export { readTask, readTasks } from "./read.ts";
export { isCertainRefusal } from "./submit.ts";
export { entryPoints, notesAt, prepareMedia, type PreparedMedia } from "./prepare.ts";
export {
  renderArk,
  renderDashscope,
  renderNative,
  renderParameters,
  renderUnified,
  type FileUrl,
} from "./renderings/index.ts";
export { isTaskStatus, isTerminal, taskStates, type TaskStatus } from "./states.ts";
export type {
  Artifact,
  IdempotencyClaim,
  ListedTask,
  RequestChange,
  SubmitInput,
  SubmitResult,
  Task,
  TaskError,
  TaskFilter,
  TaskPage,
  Tasks,
} from "./types.ts";
export {
  createDeliverer,
  createSender,
  getDelivery,
  readDeliveries,
  redeliver,
  sendTest,
  startSpendAlerts,
  type Deliverer,
  type Delivery,
} from "./webhooks/index.ts";
