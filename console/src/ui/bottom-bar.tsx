/** The navigation bar on phones: the most used pages within thumb reach, and a menu of all others. */
import { AppShell } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import classes from "./shell.module.css";
import type { entries } from "./menu.ts";

interface BottomBarProps {
  readonly shown: readonly (typeof entries)[number][];
  readonly isOpen: boolean;
  readonly toggle: () => void;
  readonly close: () => void;
}

export function BottomBar({ shown, isOpen, toggle, close }: BottomBarProps) {
  return (
    <AppShell.Footer hiddenFrom="sm" bg="var(--sunken)">
      <nav aria-label="Main pages" className={classes["bar"]}>
        {shown
          .filter((entry) => "bar" in entry)
          .map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              search={({ ws }) => ({ ws })}
              className={classes["thumb"]}
              activeProps={{ "aria-current": "page" }}
              onClick={close}
            >
              {label}
            </Link>
          ))}
        <button type="button" className={classes["thumb"]} aria-expanded={isOpen} onClick={toggle}>
          More
        </button>
      </nav>
    </AppShell.Footer>
  );
}
