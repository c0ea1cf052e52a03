import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const uploadScreens = [
  screen({
    path: "/upload",
    title: () => titles().upload,
    navigation: { group: "content", order: 20, icon: "upload", shortcut: "u", role: "editor" },
    component: lazy(async () => (await import("../work.ts")).UploadScreen),
  }),
];
