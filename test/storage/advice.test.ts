/** The advice in the log when the database cannot be used: each failure that may be temporary has its own text. docs/database.md. */
import { expect, it } from "vitest";
import { adviceOn } from "../../src/storage/index.ts";

const coded = (code: string, message = code): Error => Object.assign(new Error(message), { code });

it.each([
  [coded("ECONNREFUSED"), "check host and port, and that the server runs"],
  [coded("ECONNRESET", "read ECONNRESET"), "check host and port, and that the server runs"],
  [coded("EPIPE", "write EPIPE"), "check host and port, and that the server runs"],
  [coded("ENETUNREACH"), "a firewall may be between"],
  [coded("CERT_HAS_EXPIRED", "certificate has expired"), "renew the server's certificate"],
  [coded("CERT_NOT_YET_VALID"), "this machine's clock"],
  [coded("53100", "could not extend file"), "free its disk"],
  [coded("57014", "canceling statement due to statement timeout"), "what the server waits for"],
  [new Error("Query read timeout"), "what the server waits for"],
  [new Error("Query read timeout"), "11 for each process (default_pool_size)"],
  [new Error("timeout exceeded when trying to connect"), "11 for each process (default_pool_size)"],
  [
    new Error("Client has encountered a connection error and is not queryable"),
    "check host and port, and that the server runs",
  ],
  [
    new AggregateError([coded("ECONNREFUSED")], ""),
    "check host and port, and that the server runs",
  ],
  [
    coded("08P01", "server login has been failing, try again later (server_login_retry)"),
    "the server behind the pooler",
  ],
  [coded("08P01", "server conn crashed?"), "the server behind the pooler"],
  [coded("XX000", "(EMAXCONNSESSION) max clients reached in session mode"), "default_pool_size"],
  [coded("58000", "could not get connection from the pool"), "the server behind the pooler"],
  [coded("XX000", "Couldn't connect to compute node"), "the server behind the proxy runs"],
  [coded("28P01"), "check user and password"],
  [coded("28000", 'role "tolgate" does not exist'), "see that the user exists and may log in"],
  [coded("42501"), "GRANT"],
  [coded("42P01"), "search_path"],
  [coded("XX000"), "check DATABASE_URL, and that the server lets this user in"],
])("%s gets its own advice", (error, fix) => {
  expect(adviceOn(error).fix).toContain(fix);
});
