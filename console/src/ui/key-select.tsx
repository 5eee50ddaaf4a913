/** Chooses a key of those the reader sees. Of many only some are listed: what is typed is looked for in all of them. */
import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client.ts";

interface KeySelectProps {
  readonly ws: string | undefined;
  readonly value: string | undefined;
  readonly set: (id: string | undefined) => void;
  readonly placeholder?: string;
}

const lookAfterMs = 200;
const listed = "50";

const choiceOf = ({
  id,
  name,
  key_last4: end,
}: {
  id: string;
  name: string;
  key_last4: string;
}) => ({
  value: id,
  label: `${name} (...${end})`,
});

/** Keys that were used last, or that fit a text; the chosen one is among them. */
function useChoices({ ws, value }: KeySelectProps, text: string) {
  const query = { limit: listed, sort: "used" as const, workspace_id: ws, q: text || undefined };
  const { data } = api.useQuery(
    "get",
    "/admin/v1/keys",
    { params: { query } },
    { placeholderData: keepPreviousData, staleTime: 30_000 },
  );
  const found = (data?.data ?? []).map(choiceOf);
  const isMissing = value !== undefined && !found.some((one) => one.value === value);
  const { data: chosen } = api.useQuery(
    "get",
    "/admin/v1/keys/{id}",
    { params: { path: { id: value ?? "" } } },
    { enabled: isMissing && data !== undefined, staleTime: 30_000 },
  );
  if (!isMissing) return found;
  // Until it is read, and where the reader may not see it, its id stands for it.
  const own = chosen?.id === value && chosen !== undefined ? choiceOf(chosen) : undefined;
  return [own ?? { value, label: value }, ...found];
}

export function KeySelect(props: KeySelectProps) {
  const { value, set, placeholder = "Any key" } = props;
  const [text, setText] = useState("");
  // The field shows what is chosen: that is no search.
  const [isTyped, setIsTyped] = useState(false);
  const [wanted] = useDebouncedValue(isTyped ? text.trim().slice(0, 100) : "", lookAfterMs);
  return (
    <Select
      aria-label="Key"
      placeholder={placeholder}
      w={200}
      searchable
      clearable
      limit={Number(listed)}
      data={useChoices(props, wanted)}
      value={value ?? null}
      searchValue={text}
      onSearchChange={setText}
      onKeyDown={() => setIsTyped(true)}
      onDropdownClose={() => setIsTyped(false)}
      onChange={(id) => {
        setIsTyped(false);
        set(id ?? undefined);
      }}
      nothingFoundMessage="No such key"
    />
  );
}
