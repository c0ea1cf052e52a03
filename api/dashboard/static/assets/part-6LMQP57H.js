var a={hash:"hash-ADVJ2URF.js",send:"send-PZVSELOZ.js"};export{a};
