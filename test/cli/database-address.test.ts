/** Common mistakes in DATABASE_URL: a password that must be encoded in a URL, a user without rights, a standby. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { expect, it } from "vitest";
import { readEnvironment } from "../../src/cli/environment.ts";
import { UsageError } from "../../src/cli/usage-error.ts";
import { migrate, openDatabase } from "../../src/storage/index.ts";
import { makeCertificate } from "../support/certificate.ts";
import { tollgateHere } from "../support/command.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";

it.each(["p@ss/hunter2", "hunter2/x", "hunter2#x", "hunter2?x"])(
  "the unencoded password %s is refused with advice on encoding, without repeating it",
  (password) => {
    const read = (): unknown =>
      readEnvironment({ DATABASE_URL: `postgres://tollgate:${password}@db.internal/tollgate` });
    expect(read).toThrow(UsageError);
    expect(read).toThrow(/^DATABASE_URL is not a URL such as .*are written as %2F \(\/\)/);
    expect(read).not.toThrow(/hunter2/);
  },
);

/** The result of `migrate`, then the doctor's finding about the schema. */
async function startAndDoctorOf(
  url: string,
): Promise<{ readonly start: unknown; readonly doctor: unknown }> {
  const database = await openDatabase({ url, log: silentLog });
  const start = await migrate(database).then(
    () => "migrated",
    (error: unknown) => error,
  );
  await database.close();
  const environment = { DATABASE_URL: url, TOLLGATE_DATA_DIR: temporaryDirectory() };
  const { stdout } = await tollgateHere(["doctor", "--json"], environment);
  const { findings } = JSON.parse(stdout) as { findings: { readonly check: string }[] };
  return { start, doctor: findings.find(({ check }) => check === "schema") };
}

it("for a user who may create no tables, the start and doctor advise to make them the owner; then the start succeeds", async () => {
  const url = new URL(await (await sharedPostgres()).createDatabase());
  const name = url.pathname.slice(1);
  const owner = await openDatabase({ url: url.href, log: silentLog });
  await owner.query(`create role "${name}" login password 'guest'`);
  // The default of every server since PostgreSQL 15.
  await owner.query("revoke create on schema public from public");
  const guest = new URL(url);
  guest.username = name;
  guest.password = "guest";
  expect(await startAndDoctorOf(guest.href)).toMatchObject({
    start: {
      name: "SchemaError",
      message: expect.stringMatching(/permission denied for schema public\. .* OWNER TO/),
    },
    doctor: { status: "failed", fix: expect.stringContaining("OWNER TO") },
  });
  await owner.query(`alter database "${name}" owner to "${name}"`);
  expect(await startAndDoctorOf(guest.href)).toMatchObject({
    start: "migrated",
    doctor: { status: "ok" },
  });
  await owner.close();
});

it("a read-only server is reported with the advice to name the primary", async () => {
  const url = new URL(await (await sharedPostgres()).createDatabase());
  url.searchParams.set("options", "-c default_transaction_read_only=on");
  expect(await startAndDoctorOf(url.href)).toMatchObject({
    start: { name: "SchemaError", message: expect.stringContaining("Name the primary") },
  });
});

/** The error for a server at this address that greets each connection this way. */
async function errorFrom(
  greet: (socket: Socket) => void,
  user: string,
  query = "",
): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    greet(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `postgres://${user}@127.0.0.1:${port}/tollgate${query}`;
  const message = await openDatabase({ url, log: silentLog }).then(
    () => "opened",
    (error: unknown) => (error as Error).message,
  );
  server.close();
  return message;
}

it("an unknown certificate authority and a server without TLS are reported with the setting to change", async () => {
  const secureContext = createSecureContext(makeCertificate());
  const secure = (socket: Socket): void =>
    void socket.once("data", () => {
      socket.write("S");
      new TLSSocket(socket, { isServer: true, secureContext }).on("error", () => undefined);
    });
  const plain = (socket: Socket): void => void socket.once("data", () => socket.write("N"));
  const full = "?sslmode=verify-full";
  const unknown = await errorFrom(secure, "root:hunter2", full);
  expect(unknown).toMatch(/sslmode=verify-full&sslrootcert=\/path\/to\/ca\.pem$/);
  expect(await errorFrom(plain, "root:hunter2", full)).toMatch(
    /; leave sslmode out of DATABASE_URL/,
  );
});

it("a missing password is reported with the way to give it", async () => {
  /** An authentication message of PostgreSQL's protocol: its kind and text. */
  const asks = (kind: number, text: string): Buffer => {
    const head = Buffer.from("R--------");
    head.writeInt32BE(8 + text.length, 1);
    head.writeInt32BE(kind, 5);
    return Buffer.concat([head, Buffer.from(text)]);
  };
  const failure = await errorFrom((socket) => {
    const answers = [asks(10, "SCRAM-SHA-256\0\0"), asks(11, "r=x,s=eA==,i=4096")];
    socket.on("data", () => socket.write(answers.shift() ?? ""));
  }, "tollgate");
  expect(failure).toMatch(/; give the password in DATABASE_URL, as postgres:/);
});

it.each([
  "postgres://u:secret@one,two/db",
  "postgres://u:secret@one:5432,two:5433/db?sslmode=require",
  "postgres://u:secret@/db?host=one,two",
  "postgres://one,two/db",
  "postgres://one:5432,two:5433/db?options=-c%20application_name=a@b",
])("several hosts are refused, with advice on what to do: %s", (url) => {
  for (const name of ["DATABASE_URL", "DATABASE_READ_URL"]) {
    const read = (): unknown => readEnvironment({ DATABASE_URL: "postgres://u@h/d", [name]: url });
    expect(read).toThrow(
      new RegExp(`^${name} names several hosts, .*name one that follows the primary`),
    );
    expect(read).not.toThrow(/secret/);
  }
});

it.each([
  "postgres://u:a%2Cb@one/db?options=-c%20search_path=a,b&target_session_attrs=any",
  "postgres://u:a,b@one/db",
  "postgres://one/a,b",
])("a comma elsewhere in the address does not count as a second host: %s", (url) => {
  expect(readEnvironment({ DATABASE_URL: url }).databaseUrl).toBe(url);
});
