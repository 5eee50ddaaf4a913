// Helpers for the rows about videos on the sandbox: the vendor's request for a call, and the call's result.
import { expect } from "vitest";
import { eventually } from "../money/support.ts";
import type { Bench, TaskBody } from "../task-http/support.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Any picture, as a data URL. */
export const frame = { url: "data:image/png;base64,iVBORw0KGgo=" };
export const frames = (count: number) => Array.from({ length: count }, () => frame);
export const first = { model: "sandbox/video-model-v1" };
export const second = { model: "sandbox/video-model-v1.5" };
export const bySeconds = { model: "sandbox/video-model-seconds" };
export const byTokens = { model: "sandbox/video-model-tokens" };

export interface Refusal {
  readonly status: number;
  readonly param: string | null;
}

export interface TaskHelpers {
  /** Creates the task of a body, which must be accepted with 200. */
  readonly created: (body: Fields) => Promise<TaskBody>;
  /** The refusal of a body. Expects that no task was created and no vendor was called. */
  readonly refused: (body: Fields) => Promise<Refusal>;
  /** The vendor's request for a body. */
  readonly sent: (body: Fields) => Promise<Record<string, unknown>>;
  /** The task of a body once it has ended; it must have succeeded. */
  readonly done: (body: Fields) => Promise<TaskBody>;
}

interface Journal {
  readonly data: { readonly method: string; readonly body: Record<string, unknown> }[];
}

/** The helpers for `POST /v1/tasks`, or another path with the same body. */
export function taskHelpers(bench: () => Bench, path = "/v1/tasks"): TaskHelpers {
  let count = 0;
  const post = (body: Fields) => bench().send("POST", path, { body });
  const idOf = (answer: Fields) => (answer["id"] ?? answer["request_id"]) as string;
  async function received(marker: string): Promise<Record<string, unknown>[]> {
    const answer = await fetch(`${bench().sandboxUrl}/__journal?contains=${marker}`);
    const { data } = (await answer.json()) as Journal;
    return data.filter(({ method }) => method === "POST").map(({ body }) => body);
  }
  async function created(body: Fields): Promise<TaskBody> {
    const answer = await post(body);
    const made = (await answer.json()) as Fields;
    expect({ status: answer.status, made }).toMatchObject({ status: 200 });
    return (made["status"] === undefined ? { id: idOf(made) } : made) as unknown as TaskBody;
  }
  const tasks = () => bench().database.query("select id from tasks");
  return {
    created,
    async refused(body) {
      const marker = `refused${(count += 1)}`;
      const before = (await tasks()).length;
      const answer = await post({ ...body, user: marker });
      const { error } = (await answer.json()) as { error: { param: string | null } };
      expect((await tasks()).length).toBe(before);
      expect(await received(marker)).toEqual([]);
      return { status: answer.status, param: error.param };
    },
    async sent(body) {
      const marker = `sent${(count += 1)}x`;
      const user = typeof body["user"] === "string" ? body["user"] : marker;
      // If a vendor has no end-user id, the prompt has the marker.
      const nameless = body["model"] === bySeconds.model;
      const prompt = `${(body["prompt"] as string | undefined) ?? ""} ${marker}`;
      await created(nameless ? { ...body, prompt } : { ...body, user });
      const mark = nameless ? marker : user;
      return eventually(async () => (await received(mark))[0], "what the vendor was sent");
    },
    async done(body) {
      const { id } = await created(body);
      const task = await bench().until(id, "succeeded", "failed", "expired", "canceled");
      expect(task).toMatchObject({ status: "succeeded" });
      return task;
    },
  };
}
