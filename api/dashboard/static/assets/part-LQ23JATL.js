var a={hash:"hash-ADVJ2URF.js",send:"send-4C67YXH2.js"};export{a};
