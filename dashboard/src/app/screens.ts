/** All screens. The order of the navigation is in each screen's own definition. */

import { sourcesScreens } from "../screens/sources/index.ts";
import { adminScreens } from "../screens/admin/index.ts";
import { crawlScreens } from "../screens/crawl/index.ts";
import { uploadScreens } from "../screens/upload/index.ts";
import type { Screen } from "./screen.ts";

export const SCREENS: readonly Screen[] = [
  ...sourcesScreens,
  ...uploadScreens,
  ...crawlScreens,
  ...adminScreens,
];
