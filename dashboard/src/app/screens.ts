/** All screens. The order of the navigation is in each screen's own definition. */

import { overviewScreens } from "../screens/overview/index.ts";
import { settingsScreens } from "../screens/settings/index.ts";
import { documentScreens } from "../screens/document/index.ts";
import { searchScreens } from "../screens/search/index.ts";
import { batchesScreens } from "../screens/batches/index.ts";
import { jobsScreens } from "../screens/jobs/index.ts";
import { sourcesScreens } from "../screens/sources/index.ts";
import { adminScreens } from "../screens/admin/index.ts";
import { crawlScreens } from "../screens/crawl/index.ts";
import { uploadScreens } from "../screens/upload/index.ts";
import type { Screen } from "./screen.ts";

export const SCREENS: readonly Screen[] = [
  ...overviewScreens,
  ...sourcesScreens,
  ...settingsScreens,
  ...documentScreens,
  ...searchScreens,
  ...jobsScreens,
  ...batchesScreens,
  ...uploadScreens,
  ...crawlScreens,
  ...adminScreens,
];
