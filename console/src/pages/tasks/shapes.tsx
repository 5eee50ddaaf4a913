/** The stored task in the format of each endpoint that can return it. */
import { Group, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { Copy } from "../../ui/copy.tsx";
import { Part } from "../../ui/part.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useShapes } from "./queries.ts";

const shapes = [
  { value: "unified", label: "Unified", path: "/v1/tasks/{id}" },
  { value: "native", label: "Native", path: "/v1/videos/{id}" },
  { value: "alias", label: "Alias", path: "/api/v1/tasks/{id}" },
  { value: "ark", label: "Ark", path: "/api/v3/contents/generations/tasks/{id}" },
] as const;

type Shape = (typeof shapes)[number]["value"];

export function Shapes({ id }: { id: string }) {
  const read = useShapes(id);
  const [shape, setShape] = useState<Shape>("unified");
  const { data } = read;
  const known = shapes.filter(({ value }) => data !== undefined && data[value] !== null);
  const chosen = known.find(({ value }) => value === shape);
  const text = chosen === undefined ? "" : JSON.stringify(data?.[chosen.value], null, 2);
  return (
    <Part title="Formats for callers">
      {read.error !== null && <RegionError what="shapes" error={read.error} retry={read.refetch} />}
      {chosen !== undefined && (
        <>
          <Group justify="space-between" mb="sm">
            <SegmentedControl
              aria-label="Shape"
              value={shape}
              data={known.map(({ value, label }) => ({ value, label }))}
              onChange={(value) => setShape(value)}
            />
            <Copy label="this shape" text={() => text} />
          </Group>
          <p className="muted mono">GET {chosen.path.replace("{id}", id)}</p>
          <pre className="mono" style={{ whiteSpace: "pre-wrap", margin: 0 }}>
            {text}
          </pre>
        </>
      )}
    </Part>
  );
}
