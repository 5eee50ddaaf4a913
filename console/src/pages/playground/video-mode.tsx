/** Generates videos from text and a first image, as tasks. */
import { Group } from "@mantine/core";
import { useState } from "react";
import { curlOf } from "../../base/code.ts";
import type { Picture } from "./conversation.ts";
import { tasksPath } from "./generate.ts";
import { MediaMode, type Wish } from "./media-mode.tsx";
import type { ModeProps } from "./mode-props.ts";
import { PictureButton } from "./picture-button.tsx";

export function VideoMode(props: ModeProps) {
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const bodyOf = ({ model, prompt, fields }: Wish) => {
    const [first] = pictures;
    const image = first && { url: `data:${first.mediaType};base64,${first.base64}` };
    return { model: model.id, prompt, ...(image && { image }), ...fields };
  };
  return (
    <MediaMode
      {...props}
      promptLabel="Describe the video"
      inputs={
        <Group gap="sm">
          <PictureButton
            label="First image"
            pictures={pictures}
            change={(update) => setPictures((before) => update(before).slice(-1))}
          />
        </Group>
      }
      prepare={(wish) => ({ path: tasksPath, body: bodyOf(wish) })}
      codes={(wish, { url, key }) => {
        const header = `Authorization: Bearer ${key}`;
        const again = `\n  -H "Idempotency-Key: $(uuidgen)" \\`;
        return [{ label: "curl", text: curlOf(url + tasksPath, header, bodyOf(wish), again) }];
      }}
    />
  );
}
