/** The command palette: lists pages at once, and search results from two letters on. An id of a call opens it. */
import { createSpotlight, Spotlight } from "@mantine/spotlight";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, type NavigateOptions } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api } from "../api/client.ts";
import { isolated } from "../base/isolated.ts";
import classes from "./palette.module.css";
import { useFocusBack } from "./use-focus-back.ts";

const [store, spotlight] = createSpotlight();

interface Item {
  readonly group: string;
  readonly label: string;
  readonly description?: string;
  readonly act: () => void;
}

interface PaletteProps {
  readonly pages: readonly { readonly label: string; readonly to: string }[];
  readonly actions: readonly { readonly label: string; readonly act: () => void }[];
  readonly close: () => void;
}

const debounceMs = 150;
const providersMax = 10;
const containsText = (label: string, text: string) =>
  label.toLowerCase().includes(text.toLowerCase());
const knownId = /^(req|task|key)_[0-9a-z]{26}$/;

/**
 * Search results of the gateway, with the page of each. Until the gateway answers for the current text, earlier results stay only if
 * their name contains it.
 */
function useFound(text: string, go: (to: NavigateOptions) => void): Item[] {
  const now = text.trim();
  const [q] = useDebouncedValue(now, debounceMs);
  const { data, isPlaceholderData } = api.useQuery(
    "get",
    "/admin/v1/search",
    { params: { query: { q } } },
    { enabled: q.length >= 2 && q.length <= 100, placeholderData: keepPreviousData },
  );
  if (data === undefined || now.length < 2) return [];
  const answered = q === now && !isPlaceholderData;
  const found: Item[] = [
    ...data.keys.map(({ id, name, key_last4, status }) => ({
      group: "Keys",
      label: name,
      description: `...${key_last4}, ${status}`,
      act: () => go({ to: "/keys/$id", params: { id } }),
    })),
    ...data.members.map(({ user_id: member, email, name, workspace_id: ws }) => ({
      group: "Members",
      label: email,
      description: `${isolated(name)}, requests`,
      act: () => go({ to: "/requests", search: { member, ws } }),
    })),
    ...data.workspaces.map(({ id: ws, name }) => ({
      group: "Workspaces",
      label: name,
      act: () => go({ to: ".", search: (before) => ({ ...before, ws }) }),
    })),
    ...data.models.map(({ id: model, kind }) => ({
      group: "Models",
      label: model,
      description: `${kind}, requests`,
      act: () => go({ to: "/requests", search: (before) => ({ ws: before.ws, model }) }),
    })),
  ];
  return found.filter(({ label }) => answered || containsText(label, now));
}

/** Providers by name, for readers who may open their page. There are few: one response lists all. */
function useProviders({ pages }: PaletteProps, text: string, go: (to: NavigateOptions) => void) {
  const now = text.trim();
  const enabled = now.length >= 2 && pages.some(({ to }) => to === "/providers");
  const { data } = api.useQuery("get", "/admin/v1/providers", {}, { enabled });
  if (!enabled) return [];
  return (data?.data ?? [])
    .filter(({ id }) => containsText(id, now))
    .slice(0, providersMax)
    .map(({ id }): Item => {
      const act = () => go({ to: "/providers/$id", params: { id } });
      return { group: "Providers", label: id, act };
    });
}

/** The pages of the object with this id, as logs and callbacks show it. */
function pagesOfId(id: string, go: (to: NavigateOptions) => void): Item[] {
  const kind = knownId.exec(id)?.[1];
  const params = { id };
  const key = () => go({ to: "/keys/$id", params });
  const task = () => go({ to: "/tasks/$id", params });
  const call = () => go({ to: "/requests/$id", params });
  if (kind === undefined) return [];
  if (kind === "key") return [{ group: "Keys", label: id, description: "Open this key", act: key }];
  return [
    ...(kind === "task"
      ? [{ group: "Tasks", label: id, description: "Open this task", act: task }]
      : []),
    { group: "Requests", label: id, description: "Open this call", act: call },
  ];
}

/** Matches that need no request. */
function useKnown(
  { pages, actions }: PaletteProps,
  text: string,
  go: (to: NavigateOptions) => void,
) {
  const items: Item[] = [
    ...pages.map(({ label, to }) => ({
      group: "Pages",
      label,
      act: () =>
        go({ to, search: (before: { ws?: string }) => ({ ws: before.ws }) } as NavigateOptions),
    })),
    ...actions.map((one) => ({ group: "Actions", ...one })),
  ].filter(({ label }) => containsText(label, text.trim()));
  return [...pagesOfId(text.trim(), go), ...items];
}

/**
 * Selects the first result even if it arrives after the last keystroke, so that Enter opens it. (The library selects only results
 * present while typing.)
 */
function useFirstMarked(items: readonly Item[]) {
  useEffect(() => {
    const list = document.getElementById(store.getState().listId);
    if (list === null || list.querySelector("[data-selected]") !== null) return;
    list.querySelector("[data-action]")?.setAttribute("data-selected", "true");
    store.updateState((state) => ({ ...state, selected: items.length === 0 ? -1 : 0 }));
  }, [items]);
}

export function Palette(props: PaletteProps) {
  const [text, setText] = useState("");
  useFocusBack();
  const navigate = useNavigate();
  const go = (to: NavigateOptions) => void navigate(to);
  const items = [
    ...useKnown(props, text, go),
    ...useFound(text, go),
    ...useProviders(props, text, go),
  ];
  useEffect(() => spotlight.open(), []);
  useFirstMarked(items);
  return (
    <Spotlight.Root
      store={store}
      query={text}
      onQueryChange={setText}
      onSpotlightClose={props.close}
      shortcut={null}
      classNames={{
        action: classes["action"] ?? "",
        actionDescription: classes["description"] ?? "",
      }}
      attributes={{ content: { "aria-label": "Search or jump" } }}
      scrollable
      maxHeight={420}
    >
      <Spotlight.Search placeholder="Search or jump" aria-label="Search or jump" maxLength={100} />
      <Spotlight.ActionsList>
        {[...Map.groupBy(items, ({ group }) => group)].map(([group, of]) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {of.map(({ label, description, act }, at) => (
              <Spotlight.Action
                key={`${label} ${description} ${at}`}
                label={label}
                description={description}
                onClick={act}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {items.length === 0 && <Spotlight.Empty>Nothing found.</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
