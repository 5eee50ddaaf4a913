/** Quick navigation: the command palette, by button and Ctrl K, and keyboard shortcuts. Both dialogs are loaded at first use. */
import { Button, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { letterOf } from "./menu.ts";
import { useShortcuts } from "./shortcuts.ts";
import { useZone } from "./zone.ts";

const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));
const Help = lazy(async () => ({ default: (await import("./help.tsx")).Help }));

interface JumpProps {
  readonly pages: readonly { readonly to: string; readonly label: string }[];
  readonly signOut: () => void;
}

export function Jump({ pages, signOut }: JumpProps) {
  const [open, setOpen] = useState<"palette" | "help">();
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const [, setZone] = useZone();
  const close = () => setOpen(undefined);
  const go = (letter: string): boolean => {
    const page = pages.find(({ to }) => letterOf(to) === letter);
    if (page !== undefined) void navigate({ to: page.to, search: ({ ws }) => ({ ws }) });
    return page !== undefined;
  };
  useShortcuts({ go, palette: () => setOpen("palette"), help: () => setOpen("help") });
  const actions = [
    { label: "Dark", act: () => setColorScheme("dark") },
    { label: "Light", act: () => setColorScheme("light") },
    { label: "Times in UTC", act: () => setZone("utc") },
    { label: "Times in my zone", act: () => setZone("local") },
    { label: "Keyboard shortcuts", act: () => setOpen("help") },
    { label: "Sign out", act: signOut },
  ];
  return (
    <>
      <Button
        size="xs"
        variant="default"
        flex="none"
        aria-keyshortcuts="Control+K Meta+K"
        title="Ctrl K"
        onClick={() => setOpen("palette")}
      >
        Search
      </Button>
      <Suspense>
        {open === "palette" && <Palette pages={pages} actions={actions} close={close} />}
        {open === "help" && (
          <Help
            pages={pages.map(({ to, label }) => ({ label, letter: letterOf(to) }))}
            close={close}
          />
        )}
      </Suspense>
    </>
  );
}
