var a={hash:"hash-ADVJ2URF.js",send:"send-4NNVC7MS.js"};export{a};
