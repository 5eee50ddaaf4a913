/**
 * TLS to a database whose certificates are renewed in place. New connections read the authority's file again. If the file is
 * missing for a moment, as during a rewrite, no call fails, and the process never ends. docs/database.md "PostgreSQL".
 */
import { chownSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { adviceOn, openDatabase, type Database } from "../../src/storage/index.ts";
import { clientWithCachedTlsFiles } from "../../src/storage/cached-tls-files.ts";
import { makeAuthority, makeCertificate, type TestAuthority } from "../support/certificate.ts";
import { eventually } from "../support/patience.ts";
import {
  silentLog,
  startPostgres,
  temporaryDirectory,
  type TestPostgres,
} from "../support/postgres.ts";

/** Fields that the driver's type declaration lacks. */
interface Made {
  readonly ssl: unknown;
  readonly connectionParameters: object;
}

let postgres: TestPostgres;
let plain: Database;
let secure: Database;
const warned: string[] = [];
const file = join(temporaryDirectory(), "ca.pem");

beforeAll(async () => {
  postgres = await startPostgres();
  plain = await openDatabase({ url: postgres.url, log: silentLog });
  await certify(makeAuthority());
  const url = `${postgres.url}?sslmode=verify-full&sslrootcert=${file}`;
  secure = await openDatabase({
    url,
    log: { ...silentLog, warn: (_fields, message) => void warned.push(message) },
  });
});
afterAll(async () => {
  await secure.close();
  await plain.close();
  await postgres.stop();
});

/** Gives the server a certificate of this authority, and writes the authority to the gateway's file. */
async function certify(authority: TestAuthority): Promise<void> {
  const [row] = await plain.query<{ place: string }>(
    "select current_setting('data_directory') as place",
  );
  const { place } = row!;
  const { uid, gid } = statSync(place);
  const { key, cert } = makeCertificate(["localhost", "127.0.0.1"], { by: authority });
  for (const [name, text] of [
    ["server.key", key],
    ["server.crt", cert],
  ] as const) {
    writeFileSync(join(place, `${name}.new`), text, { mode: 0o600 });
    chownSync(join(place, `${name}.new`), uid, gid);
    renameSync(join(place, `${name}.new`), join(place, name));
  }
  writeFileSync(file, authority.cert);
  await plain.query("alter system set ssl = on");
  await plain.query("select pg_reload_conf()");
  await eventually(async () => {
    const [on] = await plain.query<{ ssl: string }>("select current_setting('ssl') as ssl");
    return on!.ssl === "on";
  }, "the server to speak TLS");
}

const cut = () => plain.query("select pg_terminate_backend(pid) from pg_stat_ssl where ssl", []);
const connectionState = async (): Promise<string> => {
  try {
    const [row] = await secure.query<{ ssl: boolean }>(
      "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    );
    return `ssl ${row!.ssl}`;
  } catch (error) {
    return adviceOn(error).fix;
  }
};

it("an authority's file that is renewed in place applies to the next connection", async () => {
  expect(await connectionState()).toBe("ssl true");
  await certify(makeAuthority());
  await cut();
  await eventually(
    async () => (await connectionState()) === "ssl true",
    "a connection by the new authority",
  );
});

it("while an authority's file is missing, connections use its last content", async () => {
  const busy = Array.from({ length: 40 }, () => secure.query("select pg_sleep(0.5)"));
  const ended = Promise.allSettled(busy);
  await eventually(async () => {
    const [row] = await plain.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_ssl where ssl",
    );
    return row!.count === 10;
  }, "all connections to be busy");
  renameSync(file, `${file}.away`);
  await cut();
  expect((await ended).map(({ status }) => status)).toContain("rejected");
  await eventually(
    async () => (await connectionState()) === "ssl true",
    "a connection without the file",
  );
  expect(warned).toContain("a file of DATABASE_URL cannot be read; what it said before counts");
  renameSync(`${file}.away`, file);
  await certify(makeAuthority());
  await cut();
  await eventually(
    async () => (await connectionState()) === "ssl true",
    "a connection by the newest authority",
  );
});

it.each(["ssl=true", "ssl=0", "sslmode=no-verify", "sslnegotiation=direct&sslmode=require"])(
  "a missing authority's file does not change the other settings of the URL: %s",
  (parameters) => {
    const path = join(temporaryDirectory(), "authority.pem");
    writeFileSync(path, makeAuthority().cert);
    const connectionString = `postgres://u:p@127.0.0.1/d?${parameters}&sslrootcert=${path}&application_name=a%20b`;
    const client = clientWithCachedTlsFiles({ warn: () => undefined });
    const settingsOf = () => {
      const { ssl, connectionParameters } = new client({ connectionString }) as unknown as Made;
      return { ssl, ...connectionParameters };
    };
    const before = settingsOf();
    renameSync(path, `${path}.away`);
    expect(settingsOf()).toEqual(before);
  },
);

it("an authority's file that never existed is refused at the start, with its name", async () => {
  const url = `${postgres.url}?sslmode=verify-full&sslrootcert=${file}.none`;
  await expect(openDatabase({ url, log: silentLog })).rejects.toThrow(
    /ca\.pem\.none'; look at the files that DATABASE_URL names/,
  );
});
