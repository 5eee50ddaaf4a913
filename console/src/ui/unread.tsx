/** Lists URL parameters that the page cannot read and has ignored. */
import { Text } from "@mantine/core";
import { useMatches } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { opened } from "./opened.ts";

const shownMax = 60;
const short = (text: string): string =>
  text.length > shownMax ? `${text.slice(0, shownMax)}...` : text;

export function Unread() {
  const { pathname, _strictSearch: known } = useMatches({
    select: (matches) => matches.at(-1)!,
  });
  const now = JSON.stringify(known);
  const [made] = useState(now);
  useEffect(() => () => void (opened.isOver = true), []);
  const left = Object.entries(opened.given).filter(
    ([name]) => (known as Readonly<Record<string, unknown>>)[name] === undefined,
  );
  const isAnother = opened.isOver || pathname !== opened.path || now !== made;
  if (isAnother || left.length === 0) return null;
  return (
    <Text component="output" display="block" size="sm" mb="md" className="cut">
      The page cannot read these parts of the address and ignores them:{" "}
      <span className="mono">
        {left.map(([name, value]) => `${short(name)}=${short(value)}`).join(", ")}
      </span>
    </Text>
  );
}
