/** Generates images from text: in the response, or as a task if the model requires it. */
import { curlOf } from "../../base/code.ts";
import { inLanguages, openai } from "../../base/sdks.ts";
import { tasksPath } from "./generate.ts";
import { MediaMode, type Wish } from "./media-mode.tsx";
import type { ModeProps } from "./mode-props.ts";

const path = "/v1/images/generations";

const preparedOf = ({ model, prompt, fields }: Wish) => ({
  path: model.endpoints.includes("images_generations") ? path : tasksPath,
  body: { model: model.id, prompt, ...fields },
});

export const ImageMode = (props: ModeProps) => (
  <MediaMode
    {...props}
    promptLabel="Describe the image"
    prepare={preparedOf}
    codes={(wish, place) => {
      const prepared = preparedOf(wish);
      const header = `Authorization: Bearer ${place.key}`;
      const curl = {
        label: "curl",
        text: curlOf(place.url + prepared.path, header, prepared.body),
      };
      const sdk = openai(place, "images.generate", "answer.data[0].b64_json");
      return prepared.path === path ? [curl, ...inLanguages(sdk, prepared.body, false)] : [curl];
    }}
  />
);
