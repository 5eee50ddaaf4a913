// An unreachable database: administrators get an error that says so, not one about a fault of the gateway. docs/errors.md.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { eventually } from "../support/patience.ts";
import { password, signIn, startWorld, type World } from "./people.ts";
import { call, type Answer } from "./support.ts";

let postgres: TestPostgres;
let world: World;
beforeAll(async () => {
  postgres = await startPostgres();
  world = await startWorld({ databaseUrl: await postgres.createDatabase() });
});
afterAll(async () => {
  await world.gateway.close();
  await postgres.stop();
});

const summaryOf = ({ status, json, headers }: Answer) => ({
  status,
  code: json["error"]?.code,
  retryAfter: Number(headers.get("retry-after")) > 0,
});
const unavailable = { status: 503, code: "database_unavailable", retryAfter: true };

it("during a database outage, sign-ins and calls with any management credential answer that the database is unavailable", async () => {
  const { gateway, root, ann } = world;
  const { url, admin } = gateway;
  const session = () => call(url, "GET", "/me", { headers: { cookie: root.cookie } });
  expect((await session()).status).toBe(200);
  const outage = await postgres.outage("immediate");
  await eventually(
    async () => (await fetch(`${url}/readyz`)).status === 503,
    "the database is away",
  );
  const change = await admin("POST", "/organizations", { name: "Other" });
  const answers = {
    session: await session(),
    token: await root.call("GET", "/keys"),
    read: await admin("GET", "/workspaces"),
    change,
    signIn: await signIn(gateway, ann.email, password),
  };
  expect(Object.entries(answers).map(([who, answer]) => [who, summaryOf(answer)])).toEqual(
    Object.keys(answers).map((who) => [who, unavailable]),
  );
  for (const [who, { json }] of Object.entries(answers))
    expect({ who, message: json["error"].message }).toEqual({
      who,
      message: expect.stringMatching(/database does not answer/),
    });
  // The database may have stored the change.
  expect(change.json["error"].message).toContain("Look whether it was done");
  await outage.back();
  expect((await session()).status).toBe(200);
});
