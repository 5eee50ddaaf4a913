/** The input of a message: text and images. */
import { Group, Textarea } from "@mantine/core";
import type { Message } from "./conversation.ts";
import { PictureButton } from "./picture-button.tsx";
import { onCtrlEnter, RunButton, type Running } from "./run-button.tsx";

interface ComposerProps extends Running {
  readonly said: Message;
  readonly change: (update: (said: Message) => Message) => void;
}

export const Composer = ({ said, change, ...running }: ComposerProps) => (
  <div className="panel">
    <Textarea
      label="You"
      value={said.text}
      autosize
      minRows={3}
      maxRows={16}
      onKeyDown={onCtrlEnter(running)}
      onChange={({ currentTarget: { value } }) => change((now) => ({ ...now, text: value }))}
    />
    <Group mt="sm" gap="sm" justify="space-between">
      <Group gap="sm">
        <PictureButton
          pictures={said.pictures}
          change={(update) => change((now) => ({ ...now, pictures: update(now.pictures) }))}
        />
      </Group>
      <RunButton {...running} />
    </Group>
  </div>
);
