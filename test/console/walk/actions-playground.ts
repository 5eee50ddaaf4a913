/** Calls from the playground, with a key of the person. */
import { expect } from "vitest";
import { plainPicture } from "../pixels.ts";
import { playing } from "../playing.ts";
import { button, type Action } from "./action.ts";
import type { Walk } from "./people.ts";

const lent = "POST /admin/v1/keys/{id}/temporary";
const common = { place: "playground", right: "key.reveal", may: "++++" } as const;

/** Sends a text to a model in a protocol, and reads the answer. */
const speaking = (protocol: string, model: string, path: string): Action => ({
  ...common,
  name: `speak ${protocol}`,
  calls: [lent, `POST ${path}`],
  offer: (page) => page.getByLabel("You", { exact: true }),
  async act(walk) {
    const play = playing(walk.page);
    const text = walk.fresh("Hello");
    await play.open(`ws=${walk.world.home.id}&protocol=${protocol}&models=${model}`);
    await play.write(text);
    await play.run();
    await play.answer(model).getByText(`You said: ${text}`).waitFor();
    await play
      .answer(model)
      .getByText(/USD, request$/)
      .waitFor();
    await isLogged(walk, model);
  },
});

/** Checks that the person's newest call is of this model, and succeeded. */
const isLogged = (walk: Walk, model: string) =>
  expect
    .poll(async () => {
      const filter = `member_id=${walk.userId}&model=${encodeURIComponent(model)}&limit=1`;
      return (await walk.must("GET", `/requests?view=list&${filter}`)).data;
    })
    .toMatchObject([{ status: "succeeded" }]);

/** Makes something other than text. */
const making = (mode: string, model: string, path: string, withPicture = false): Action => ({
  ...common,
  name: `${mode} by ${path}`,
  calls: [lent, `POST ${path}`],
  offer: (page) => page.getByText(new RegExp(`^${mode}$`, "i")).first(),
  async act(walk) {
    const { page, world } = walk;
    const play = playing(page);
    await play.open(`ws=${world.home.id}&mode=${mode}&models=${model}`);
    await page.locator("textarea").first().fill(walk.fresh("A boat"));
    if (withPicture)
      await page.setInputFiles("input[type=file]", await plainPicture("dot.png", 64, "#3060c0"));
    await play.run();
    if (mode === "embedding") await play.result(model).getByRole("row").nth(1).waitFor();
    else {
      await play
        .result(model)
        .getByText(/0\.\d+ USD, request$/)
        .waitFor();
    }
    await isLogged(walk, model);
  },
});

export const playgroundActions: readonly Action[] = [
  speaking("chat", "sandbox/chat", "/v1/chat/completions"),
  speaking("responses", "sandbox/responses", "/v1/responses"),
  speaking("messages", "sandbox/messages", "/v1/messages"),
  speaking(
    "generate_content",
    "sandbox/generate-content",
    "/v1beta/models/{model}:streamGenerateContent",
  ),
  making("image", "sandbox/image-model-a", "/v1/images/generations"),
  making("edit", "sandbox/image-model-a", "/v1/images/edits", true),
  making("video", "sandbox/video-model-v1", "/v1/tasks"),
  making("embedding", "sandbox/embedding", "/v1/embeddings"),
  {
    ...common,
    name: "copy a call as code with the key in it",
    calls: ["POST /admin/v1/keys/{id}/reveal"],
    also: [lent],
    offer: (page) => button(page, "Code"),
    async act({ page, world }) {
      const play = playing(page);
      await play.open(`ws=${world.home.id}&models=sandbox/chat`);
      await button(page, "Code").click();
      await button(page, "Copy the code").click();
      await button(page, "Copied").waitFor();
    },
  },
];
