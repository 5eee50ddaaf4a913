/** Reading what calls left behind, as far as the reader may see it: the request log, tasks, callbacks. */
export { listAlerts } from "./alerts.ts";
export { readEntries, type Entry } from "./entries.ts";
export { getRequest, getRequestBody } from "./request-detail.ts";
export { findNeighbours } from "./neighbours.ts";
export { listRequests, renderAttempts, renderRequest, type RequestLogRow } from "./requests.ts";
export { listRequestHeadlines, readHeadlines } from "./request-list.ts";
export { search } from "./search.ts";
export { readSpend } from "./spend.ts";
export { deliveryTrail, requestConditions, taskTrail } from "./trails.ts";
export { findVisible, listVisible, type RowName } from "./visible-ids.ts";
