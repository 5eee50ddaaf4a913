/** The component of a signed-in page: loaded when it is first opened, and drawn again, with its state, in another time zone. */
import { lazyRouteComponent } from "@tanstack/react-router";
import { createElement, type ReactNode } from "react";
import { useZone } from "./zone.ts";

/** `load` imports the module of the page, which exports the page under `name`. */
export const lazyPage = <Name extends string>(
  load: () => Promise<Readonly<Record<Name, () => ReactNode>>>,
  name: Name,
) =>
  lazyRouteComponent(async () => {
    const { [name]: page } = await load();
    return {
      Page() {
        useZone();
        return createElement(page);
      },
    };
  }, "Page");
