/** Edits images: the whole first image, or its painted parts. */
import { Button, Group, SegmentedControl, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { quoted } from "../../base/literals.ts";
import type { Place } from "../../base/sdks.ts";
import type { Picture } from "./conversation.ts";
import { tasksPath, type GenerationRequest } from "./generate.ts";
import { MaskCanvas, type Brush } from "./mask-canvas.tsx";
import { maskOf } from "./mask-png.ts";
import type { Size, Stroke } from "./mask.ts";
import { MediaMode, type Wish } from "./media-mode.tsx";
import type { ModeProps } from "./mode-props.ts";
import { PictureButton } from "./picture-button.tsx";
import { blobOf } from "./pictures.ts";
import { useBlobUrl } from "./shown-picture.tsx";

const editsPath = "/v1/images/edits";

const pathOf = ({ model }: Wish) =>
  model.endpoints.includes("images_edits") ? editsPath : tasksPath;

/** Brush sizes, as a share of the image width. */
const sizes = { Small: 0.02, Medium: 0.06, Large: 0.15 } as const;
type SizeName = keyof typeof sizes;

interface Painting {
  /** The painted image. */
  readonly of?: Picture | undefined;
  readonly strokes: readonly Stroke[];
  readonly size: Size;
}

interface MaskEditorProps {
  readonly picture: Picture;
  readonly painting: Painting;
  readonly change: (painting: Painting) => void;
}

function MaskEditor({ picture, painting, change }: MaskEditorProps) {
  const { of, strokes, size } = painting;
  const [name, setName] = useState<SizeName>("Medium");
  const [tool, setTool] = useState("Brush");
  const blob = useMemo(() => blobOf(picture), [picture]);
  const url = useBlobUrl(blob);
  const brush: Brush = { size: size.width * sizes[name], erases: tool === "Eraser" };
  const paint = (painted: readonly Stroke[]) => change({ of, size, strokes: painted });
  const undo = () => paint(strokes.slice(0, -1));
  return (
    <>
      <Group gap="sm" my="sm">
        <SegmentedControl
          aria-label="Tool"
          value={tool}
          data={["Brush", "Eraser"]}
          onChange={setTool}
        />
        <SegmentedControl
          aria-label="Size"
          value={name}
          data={Object.keys(sizes)}
          onChange={(value) => setName(value as SizeName)}
        />
        <Button variant="default" disabled={strokes.length === 0} onClick={undo}>
          Undo stroke
        </Button>
        <Button variant="default" disabled={strokes.length === 0} onClick={() => paint([])}>
          Clear mask
        </Button>
      </Group>
      <Text size="sm" className="muted" mb="sm">
        {strokes.length === 0
          ? "Without a mask the whole image may change. Paint the area to change."
          : "Only the painted area may change."}
      </Text>
      {url !== undefined && (
        <MaskCanvas
          {...{ url, brush, strokes, undo }}
          change={paint}
          measured={(measured) => change({ of, strokes, size: measured })}
        />
      )}
    </>
  );
}

/** Builds a form with the images, and with the mask if one is painted. */
async function formOf(
  wish: Wish,
  pictures: readonly Picture[],
  { strokes, size }: Painting,
): Promise<GenerationRequest> {
  const form = new FormData();
  form.set("model", wish.model.id);
  form.set("prompt", wish.prompt);
  for (const [name, value] of Object.entries(wish.fields))
    form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  for (const picture of pictures) form.append("image[]", blobOf(picture), picture.name);
  if (strokes.length > 0) form.set("mask", await maskOf(strokes, size), "mask.png");
  return { path: pathOf(wish), body: form };
}

function curlOf(
  wish: Wish,
  pictures: readonly Picture[],
  masked: boolean,
  { url, key }: Place,
): string {
  const fields = Object.entries({ model: wish.model.id, prompt: wish.prompt, ...wish.fields });
  const parts = [
    ...fields.map(
      ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    ),
    ...pictures.map(({ name }) => `image[]=@${name}`),
    ...(masked ? ["mask=@mask.png"] : []),
  ];
  const lines = parts.map(
    (part) => `  ${part.includes("=@") ? "-F" : "--form-string"} ${quoted(part)}`,
  );
  return [`curl ${url}${pathOf(wish)} \\\n  -H "Authorization: Bearer ${key}"`, ...lines].join(
    " \\\n",
  );
}

const unpainted: Painting = { strokes: [], size: { width: 1, height: 1 } };

export function EditMode(props: ModeProps) {
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const [painted, setPainting] = useState(unpainted);
  const [first] = pictures;
  // A mask belongs to its image.
  const painting = painted.of === first ? painted : { ...unpainted, of: first };
  return (
    <MediaMode
      {...props}
      promptLabel="What to change"
      missing={first === undefined ? "Add an image." : undefined}
      inputs={
        <>
          <Group gap="sm">
            <PictureButton pictures={pictures} change={setPictures} />
          </Group>
          {first !== undefined && (
            <MaskEditor picture={first} painting={painting} change={setPainting} />
          )}
        </>
      }
      prepare={(wish) => formOf(wish, pictures, painting)}
      codes={(wish, place) => [
        { label: "curl", text: curlOf(wish, pictures, painting.strokes.length > 0, place) },
      ]}
    />
  );
}
