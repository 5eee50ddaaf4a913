/** Embeds texts, one a line. */
import { curlOf } from "../../base/code.ts";
import { inLanguages, openai } from "../../base/sdks.ts";
import { MediaMode, type Wish } from "./media-mode.tsx";
import type { ModeProps } from "./mode-props.ts";
import { textsOf } from "./similarity.ts";

const path = "/v1/embeddings";

const bodyOf = ({ model, prompt, fields }: Wish) => ({
  model: model.id,
  input: textsOf(prompt),
  ...fields,
});

export const EmbeddingMode = (props: ModeProps) => (
  <MediaMode
    {...props}
    promptLabel="Texts, one per line"
    prepare={(wish) => ({ path, body: bodyOf(wish) })}
    codes={(wish, place) => {
      const header = `Authorization: Bearer ${place.key}`;
      const sdk = openai(place, "embeddings.create", "answer.data[0].embedding");
      const curl = { label: "curl", text: curlOf(place.url + path, header, bodyOf(wish)) };
      return [curl, ...inLanguages(sdk, bodyOf(wish), false)];
    }}
  />
);
