/** Requests whose head arrives in one read are answered on their socket, without Node's request and response. */
export { installFastPath } from "./server.ts";
