/** Shared by the read tests: calls and tasks by people in their roles, and reads of them. */
import { startWorld as startPeople, type Person } from "../admin/people.ts";
import type { Answer } from "../admin/support.ts";

/** A sandbox call costs the same each time: the usage that the sandbox reports. */
export const usageTold = { input: 1000, output: 200 };

export async function startWorld(options: Parameters<typeof startPeople>[0] = {}) {
  const world = await startPeople({
    tasks: { timing: { firstPollMs: 30, sweepMs: 100 } },
    ...options,
  });
  const { gateway, must, home, away } = world;
  for (const { id } of [home, away])
    must(await gateway.admin("POST", `/workspaces/${id}/credits`, { amount: "50.00" }));

  const keyOf = async (person: Person, workspaceId: string) =>
    must(await person.call("POST", "/keys", { workspace_id: workspaceId, name: "calls" })) as {
      id: string;
      key: string;
    };
  const post = (key: string, path: string, body: unknown) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });

  return {
    ...world,
    keyOf,
    /** Makes a chat call; returns the id of its row. */
    async chat(key: string, script: object = { usage: usageTold }, model = "sandbox/chat") {
      const content = `Hi\n#sandbox ${JSON.stringify(script)}`;
      const answer = await post(key, "/v1/chat/completions", {
        model,
        messages: [{ role: "user", content }],
      });
      await answer.text();
      return answer.headers.get("x-request-id")!;
    },
    /** Runs a video task to its end; returns its id. */
    async video(key: string, more: object = {}) {
      const task = (await (
        await post(key, "/v1/tasks", {
          model: "sandbox/video-model-v1",
          prompt: "A boat",
          duration: 2,
          ...more,
        })
      ).json()) as { id: string; status: string };
      if (task.id === undefined) throw new Error(`no task: ${JSON.stringify(task)}`);
      for (;;) {
        const read = await fetch(`${gateway.url}/v1/tasks/${task.id}`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const { status } = (await read.json()) as { status: string };
        if (!["queued", "running"].includes(status)) return task.id;
        await new Promise((resume) => setTimeout(resume, 30));
      }
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;

export const ids = (answer: Answer): string[] =>
  (answer.json.data as { id: string }[]).map(({ id }) => id);
