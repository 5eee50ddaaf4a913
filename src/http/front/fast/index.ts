/** The fast path: requests whose head arrives in one read are answered on their socket, without Node's request and response. */
export type { FastResponse } from "./response.ts";
export { installFastPath } from "./server.ts";
