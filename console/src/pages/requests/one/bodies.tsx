/** The stored bodies of a call: request, upstream request and answer. Loaded on demand, and shown as text. */
import { Button, SegmentedControl, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, type Schemas } from "../../../api/client.ts";
import { asApiError } from "../../../api/errors.ts";
import { readTime } from "../../../base/time.ts";
import { Copy } from "../../../ui/copy.tsx";
import { RegionError } from "../../../ui/region-error.tsx";
import { useToday } from "../../../ui/use-today.ts";
import classes from "./bodies.module.css";
import { ComparedBodies } from "./compared.tsx";

const names = { request: "Request", sent: "Sent request", answer: "Answer" } as const;
type Name = keyof typeof names;
const choices = { both: "Side by side", ...names } as const;
type Choice = keyof typeof choices;

/** Formats JSON; other text stays as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

type Body = Schemas["RequestBody"];

function OneBody({ name, data }: { name: Name; data: Body }) {
  const text = data[name];
  if (text === null) return <Text>None.</Text>;
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <pre className={classes["text"]} tabIndex={0} aria-label={names[name]}>
        {readable(text)}
      </pre>
      <Copy label={`the ${names[name].toLowerCase()}`} text={() => text} />
    </>
  );
}

function Shown({ id }: { id: string }) {
  const [choice, setChoice] = useState<Choice>("both");
  const now = useToday();
  const { data, error, refetch } = useQuery({
    queryKey: ["get", "/admin/v1/requests/{id}/body", id],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (await client.GET("/admin/v1/requests/{id}/body", { params, signal })).data!;
    },
    retry: false,
  });
  if (error !== null && asApiError(error).status === 404)
    return (
      <Text>
        The text of this call is not stored. The settings of the workspace say which calls are.
      </Text>
    );
  if (error !== null) return <RegionError what="body" error={error} retry={refetch} />;
  if (data === undefined) return <Text className="muted">Reading...</Text>;
  const isCut = choice === "both" ? data.truncated.length > 0 : data.truncated.includes(choice);
  return (
    <>
      <SegmentedControl
        aria-label="What to show"
        value={choice}
        data={Object.entries(choices).map(([value, label]) => ({ value: value as Choice, label }))}
        onChange={setChoice}
      />
      <Text size="sm" className="muted" my="sm">
        {isCut && "Cut after 256 kB. "}
        Kept until {readTime(new Date(data.kept_until), now)}.
      </Text>
      {choice === "both" ? (
        <ComparedBodies request={data.request} sent={data.sent} />
      ) : (
        <OneBody name={choice} data={data} />
      )}
    </>
  );
}

export function Bodies({ id }: { id: string }) {
  const [isOpen, setIsOpen] = useState(false);
  if (isOpen) return <Shown id={id} />;
  return (
    <Button variant="default" onClick={() => setIsOpen(true)}>
      Show request and answer
    </Button>
  );
}
