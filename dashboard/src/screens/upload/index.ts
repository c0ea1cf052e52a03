import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { upload } from "./messages.ts";

export const uploadScreens = [
  screen({
    path: "/upload",
    title: () => upload().title,
    navigation: { group: "content", order: 20, icon: "upload", shortcut: "u" },
    component: lazy(async () => (await import("./upload-screen.tsx")).UploadScreen),
  }),
];
