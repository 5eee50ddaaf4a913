/** Tasks: image and video work that outlives its request. Design section 6. */
export { defaultTiming, taskPoints, type TaskPoint, type TaskTiming } from "./engine.ts";
export { createTasks, type TasksOptions } from "./tasks.ts";
export { isTaskStatus, isTerminal, taskStates, type TaskStatus } from "./states.ts";
export type {
  Artifact,
  IdempotencyClaim,
  SubmitInput,
  SubmitResult,
  Task,
  TaskError,
  TaskFilter,
  TaskPage,
  Tasks,
} from "./types.ts";
