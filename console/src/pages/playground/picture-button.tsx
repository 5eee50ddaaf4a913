/** Images for a call: a button to add some, their names, and errors of files. */
import { Button, FileButton, Pill, Text } from "@mantine/core";
import { useState } from "react";
import { isolated } from "../../base/isolated.ts";
import type { Picture } from "./conversation.ts";
import { pictureTypes, readPicture } from "./pictures.ts";

interface PictureButtonProps {
  readonly pictures: readonly Picture[];
  /** A change of the current images: reading a file takes a moment, in which others may be added or removed. */
  readonly change: (update: (pictures: readonly Picture[]) => readonly Picture[]) => void;
  readonly label?: string;
}

export function PictureButton({ pictures, change, label = "Add image" }: PictureButtonProps) {
  const [fault, setFault] = useState("");
  const add = async (files: readonly File[]) => {
    setFault("");
    try {
      const added = await Promise.all(files.map(readPicture));
      change((before) => [...before, ...added]);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <>
      <FileButton accept={pictureTypes.join(",")} multiple onChange={(files) => void add(files)}>
        {(props) => (
          <Button size="xs" variant="default" {...props}>
            {label}
          </Button>
        )}
      </FileButton>
      {pictures.map((picture, index) => (
        <Pill
          key={`${picture.name} ${String(index)}`}
          withRemoveButton
          removeButtonProps={{
            "aria-label": `Remove ${isolated(picture.name)}`,
            "aria-hidden": false,
            tabIndex: 0,
          }}
          onRemove={() => change((before) => before.filter((one) => one !== picture))}
        >
          {picture.name}
        </Pill>
      ))}
      <Text size="sm" role="alert" className="bad">
        {fault}
      </Text>
    </>
  );
}
