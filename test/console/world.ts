/** People in every role, each with a browser, at a gateway with the built console. */
import { startWorld } from "../admin-reads/support.ts";
import { closeVisits, visit, type Visit } from "./browser.ts";

export interface ConsoleWorld extends Awaited<ReturnType<typeof startWorld>> {
  /** A window of a signed-in person; `nobody`: without a sign-in. */
  open(who: "root" | "ann" | "mem" | "bob" | "nobody", more?: object): Promise<Visit>;
  close(): Promise<void>;
}

/** `root` administers everything, `ann` the workspace `home` of which `mem` is a member, `bob` another one. */
export async function startConsoleWorld(
  options: NonNullable<Parameters<typeof startWorld>[0]> = {},
): Promise<ConsoleWorld> {
  const world = await startWorld({
    ...options,
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on", ...options.environment },
  });
  return {
    ...world,
    open: (who, more = {}) =>
      visit({
        url: world.gateway.url,
        ...(who !== "nobody" && { cookie: world[who].cookie }),
        ...more,
      }),
    async close() {
      await closeVisits(world.gateway.url);
      await world.gateway.close();
    },
  };
}

/** Makes one object for each kind of page: successful and failed calls, a task with its callback, an invitation. */
export async function furnish(world: ConsoleWorld): Promise<void> {
  const { home, must, ann, mem, root, gateway } = world;
  const { key } = await world.keyOf(mem, home.id);
  await world.keyOf(root, home.id);
  await world.chat(key);
  await world.chat(key, { status: 500 });
  await world.video(key, { webhook_url: "https://127.0.0.1:9/hook" });
  must(
    await ann.call("POST", `/workspaces/${home.id}/members`, {
      email: "new@example.com",
      role: "member",
    }),
  );
  must(await gateway.admin("POST", `/workspaces/${home.id}/credits`, { amount: "1.00" }));
}
