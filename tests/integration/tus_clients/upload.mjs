// Upload a file with tus-js-client, and resume the upload of an earlier start.
// Arguments: endpoint, file to upload, file that stores the addresses of incomplete uploads.
import fs from "node:fs";
import process from "node:process";
import { FileUrlStorage, Upload } from "tus-js-client";

const [endpoint, path, memory] = process.argv.slice(2);
const upload = new Upload(fs.createReadStream(path), {
  endpoint,
  uploadSize: fs.statSync(path).size,
  metadata: { filename: "train.txt" },
  retryDelays: Array(10_000).fill(500), // the test ends the process
  urlStorage: new FileUrlStorage(memory),
  onError: (error) => {
    console.error(String(error));
    process.exit(1);
  },
  onSuccess: () => console.log(upload.url),
});
const [previous] = await upload.findPreviousUploads();
if (previous) upload.resumeFromPreviousUpload(previous);
upload.start();
