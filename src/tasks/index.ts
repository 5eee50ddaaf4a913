/** Tasks: image and video work that outlives its request. docs/tasks.md. */
export { taskPoints, type TaskPoint, type TaskTiming } from "./engine.ts";
export {
  answerKey,
  claimKeyForCall,
  findAnswered,
  keyLifetimeMs,
  keyOutlived,
  noAnswer,
} from "./idempotency.ts";
export { createTasks, openUpload } from "./tasks.ts";
export { insertFinished } from "./finished.ts";
export { readTask, readTasks } from "./read.ts";
export { isCertainRefusal } from "./submit.ts";
export { mediaEntryPoints, notesAt, prepareMedia, type PreparedMedia } from "./prepare.ts";
export { renderArk } from "./renderings/ark.ts";
export { renderDashscope } from "./renderings/dashscope.ts";
export { renderNative } from "./renderings/native.ts";
export { renderParameters } from "./renderings/parameters.ts";
export { renderUnified, type FileUrl } from "./renderings/unified.ts";
export { retryUntilFits, type Tried } from "./retry-until-fits.ts";
export { isTaskStatus, isTerminal, taskStates, type TaskStatus } from "./states.ts";
export type {
  Artifact,
  IdempotencyClaim,
  ListedTask,
  RequestChange,
  SubmitResult,
  Task,
  TaskFilter,
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
  type Delivery,
} from "./webhooks/index.ts";
